// SPDX-License-Identifier: BSD-3-Clause
#include "pages/style.h"

#include "pages/chart.h"

namespace hocket::pages {

// Each colour has a contrast of 3 or more to the page. Of any two, the distance in OKLab is 0.07 or more for people
// without long, middle or short cones, too (by the matrices of Machado, Oliveira and Fernandes, 2009).
std::string chart_style() {
  return R"(:root{--c0:#1b4484;--c1:#ff3a00;--c2:#0d806e;--c3:#c41aab;--c4:#1c1c1c;--c5:#88862e;--c6:#6282fa;
--c7:#5a501f;
--chart-text:#1c1c1c;--chart-axis:#777;--chart-grid:#e2e2e2;--chart-back:#fff}
@media screen and (prefers-color-scheme:dark){
:root{--c0:#3dcbff;--c1:#ba460d;--c2:#008fad;--c3:#ffac97;--c4:#fffff7;--c5:#fbe325;--c6:#5d51da;--c7:#d4863c;
--chart-text:#e8e8e6;--chart-axis:#8a8f96;--chart-grid:#30343a;--chart-back:#15171a}}
.chart{display:block;width:100%;height:auto;max-width:32rem}
.chart text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;font-size:13px;fill:var(--chart-text)}
.chart .title{font-size:15px;font-weight:600}
.chart .small{font-size:11.5px}
.chart .axis{stroke:var(--chart-axis)}
.chart .grid{stroke:var(--chart-grid)}
.chart .line{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}
.chart .dashed{stroke-dasharray:6 4}
.chart .mark{fill:var(--c);stroke:var(--chart-back);stroke-width:.7}
.chart .bar{fill:var(--c);stroke:var(--chart-back);stroke-width:.7}
.chart .spread{fill:none;stroke:var(--c);stroke-width:1.3}
.chart .over{stroke:var(--chart-text)}
.c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{--c:var(--c3)}
.c4{--c:var(--c4)}.c5{--c:var(--c5)}.c6{--c:var(--c6)}.c7{--c:var(--c7)}
)";
}

// What is wide moves in a box of its own: the page never does.
std::string page_style() {
  return R"(:root{--back:#fff;--text:#1c1c1c;--quiet:#5c6067;--edge:#d5d8dc;--stripe:#f5f6f7;--link:#0a58b5;
--good:#0b6b3a;--part:#7a5200;--bad:#a31515}
@media screen and (prefers-color-scheme:dark){
:root{--back:#15171a;--text:#e8e8e6;--quiet:#a2a8b0;--edge:#3a3f46;--stripe:#1d2024;--link:#7db7ff;
--good:#5fd08c;--part:#e6b450;--bad:#ff8a80}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--back);color:var(--text);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
main{max-width:66rem;margin:0 auto;padding:1rem 1rem 4rem}
h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0 1rem}
h2{font-size:1.2rem;line-height:1.3;margin:0 0 .5rem}
h2 .id{color:var(--quiet);font-weight:400;margin-right:.5em}
p{max-width:44rem;margin:.6rem 0}
a{color:var(--link)}
code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,monospace;font-size:.9em;background:var(--stripe);
padding:.05em .3em;border-radius:.2em}
section{border-top:1px solid var(--edge);margin-top:2rem;padding-top:1.2rem}
figure{margin:1rem 0;min-width:0}
figcaption{font-weight:600;font-size:.95rem;margin-bottom:.3rem}
.scroll{overflow-x:auto;max-width:100%}
.scroll:focus-visible{outline:2px solid var(--link)}
table{border-collapse:collapse;width:max-content;font-size:.92rem;overflow-wrap:normal}
th,td{padding:.3rem .7rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--edge);min-width:3rem;
max-width:26rem}
th{vertical-align:bottom;border-bottom:2px solid var(--quiet)}
tbody tr:nth-child(even){background:var(--stripe)}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
th.number{white-space:normal;max-width:9rem}
.summary td:first-child{white-space:nowrap}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:0 2rem}
.verdict{margin-top:1rem}
.badge{display:inline-block;white-space:nowrap;font-weight:600;font-size:.9rem;line-height:1.3;
padding:.1em .6em .1em .4em;
margin-right:.5em;border:2px solid currentcolor}
.badge svg{width:1em;height:1em;vertical-align:-.12em;margin-right:.35em;fill:none;stroke:currentcolor;stroke-width:2}
.badge .full{fill:currentcolor}
.reproduced{color:var(--good);border-radius:1em}
.in-part{color:var(--part);border-style:dashed;border-radius:.4em}
.not-reproduced{color:var(--bad);border-width:2px 2px 2px 8px}
.summary,.stacks{width:auto}
@media (max-width:34rem){main{padding:.5rem .75rem 3rem}th,td{padding:.3rem .45rem;max-width:16rem}
.summary,.summary tbody{display:block}.summary thead{display:none}
.summary tr{display:flex;flex-wrap:wrap;border-bottom:1px solid var(--edge)}
.summary td{border:0;max-width:100%}.summary td:nth-child(3){padding-top:0}
.stacks,.stacks tbody{display:block;width:auto}.stacks thead{display:none}
.stacks tr{display:flex;flex-wrap:wrap;border-bottom:1px solid var(--edge)}
.stacks td{border:0;max-width:100%;text-align:left;padding:.15rem .45rem}.stacks td:first-child{flex-basis:100%}
.stacks td:empty{display:none}.stacks [data-label]::before{content:attr(data-label) ": ";color:var(--quiet)}}
@media print{main{max-width:none;padding:0}h2{break-after:avoid}figure,tr,.verdict{break-inside:avoid}
.scroll{overflow:visible}table{font-size:.8rem;width:auto}a{color:inherit;text-decoration:none}}
)";
}

}  // namespace hocket::pages
