# SPDX-License-Identifier: BSD-3-Clause
"""Makes the site of docs/ and of what its pages link to elsewhere in the repository. mkdocs calls the functions on_...

Pages name files as they lie in the checkout. In the site a page of docs/ is where docs/ is, another page keeps its path
(bench/results/README.md), a source becomes a page that shows it, a folder one that lists it, and the public headers are
the pages of the API. All links are changed accordingly; mkdocs then checks what is left of them, with --strict.
"""
import pathlib
import posixpath
import re
import sys

from mkdocs.structure.files import File

sys.path.append(str(pathlib.Path(__file__).resolve().parent))
# pylint: disable=wrong-import-position
import api_c  # noqa: E402
import api_cxx  # noqa: E402
import api_python  # noqa: E402
import links  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Pages made of code: what the site has, of which file, and by what.
MADE = {
    "include/hocket/hocket.h": ("api/c.md", api_c.page),
    "include/hocket/hocket.hpp": ("api/cxx.md", api_cxx.page),
    "include/hocket/neighbourhoods.h": ("api/c.md", api_c.page),
    "include/hocket/persistent.h": ("api/c.md", api_c.page),
    "include/hocket/counters.h": ("api/c.md", api_c.page),
    "include/hocket/neighbourhoods.hpp": ("api/cxx.md", api_cxx.page),
    "include/hocket/persistent.hpp": ("api/cxx.md", api_cxx.page),
    api_python.INIT: ("api/python.md", api_python.page),
}
PICTURES = (".svg", ".png")
LANGUAGES = {".h": "c", ".c": "c", ".hpp": "cpp", ".cc": "cpp", ".py": "python", ".sh": "sh", ".json": "json"}
# Long tables would hide the pages that say what they mean.
NOT_SEARCHED = ("source/", "bench/results/clusters/every-cell", "bench/results/nic-reductions/")
SEARCHED_LAST = ("bench/", "decisions/")

_SENTENCE = re.compile(r"^(.+?\.)(?=\s|$)", re.DOTALL)
_FILE_NAME = re.compile(r"\[[\w./-]+\.md\]\((?P<target>[^()\s]+)\)")
_came_from = {}  # a page of the site -> its file in the repository
_titles = {}  # of pages that the navigation names


def place_in_site(path):
    """Where the site has a file or folder of the repository."""
    if path in MADE:
        return MADE[path][0]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path == "README.md":  # its place is that of the first page
        return "index.md"
    if path.endswith((".md", *PICTURES)):
        return path
    if (ROOT / path / "README.md").is_file():
        return place_in_site(f"{path}/README.md")
    return f"source/{path}.md"


def _shown(path):
    """A page with a source, or with the names of a folder's files."""
    file = ROOT / path
    head = f"---\ntitle: {path}\n---\n\n# {path}\n\n"
    if file.is_dir():
        names = sorted(entry.name for entry in file.iterdir() if entry.is_file())
        folder = posixpath.basename(path)
        return head + "".join(f"- [{name}]({folder}/{name})\n" for name in names)
    text = file.read_text(encoding="utf-8").rstrip("\n")
    return f"{head}~~~~{LANGUAGES.get(file.suffix, 'text')}\n{text}\n~~~~\n"


def _linked(path, text):
    """What a page links to, as paths in the repository; a folder is what its page is made of."""
    for _, target, other, _ in links.links(path, text):
        if not (ROOT / other).exists() or other.startswith(".."):
            raise SystemExit(f"site: {path} links to {target}: there is no {other}")
        yield f"{other}/README.md" if (ROOT / other / "README.md").is_file() else other


def _add(files, config, path):
    """The file or folder as a page or picture of the site; its text, if it has links."""
    uri = place_in_site(path)
    file = ROOT / path
    if path.endswith(PICTURES):
        files.append(File.generated(config, uri, abs_src_path=str(file)))
        return ""
    if path in MADE:
        text = MADE[path][1](ROOT)
    else:
        text = file.read_text(encoding="utf-8") if path.endswith(".md") else _shown(path)
    _came_from[uri] = path
    files.append(File.generated(config, uri, content=text))
    return text if path.endswith(".md") or file.is_dir() else ""


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = lambda text, _: links.slug(text)
    config.nav = _entries(config.nav)
    _titles.clear()
    _titles.update(_titles_in(config.nav))
    return config


def _with_folders(entry):
    """An entry of the navigation as a list of entries; a folder (it ends with a slash) is all its pages, README.md
    first, in the order in which that, or the page of the folder's name, links to them."""
    if isinstance(entry, dict):
        (title, inside), = entry.items()
        pages = _entries(inside)
        return [{title: pages[0] if len(pages) == 1 else pages}]
    if not entry.endswith("/"):
        return [entry]
    folder = ROOT / "docs" / entry
    index = next((page for page in (folder / "README.md", folder.with_suffix(".md")) if page.is_file()), None)
    order = re.findall(r"\((?:[\w-]+/)?([\w-]+\.md)\)", index.read_text(encoding="utf-8")) if index else []

    def place(name):
        return (name != "README.md", order.index(name) if name in order else len(order), name)

    return [entry + name for name in sorted((page.name for page in folder.glob("*.md")), key=place)]


def _entries(nav):
    return [each for entry in ([nav] if isinstance(nav, str) else nav) for each in _with_folders(entry)]


def _titles_in(nav, title=None):
    """(page, its title or None) of all that the navigation names."""
    if isinstance(nav, str):
        yield nav, title
    elif isinstance(nav, dict):
        for name, inside in nav.items():
            yield from _titles_in(inside, name if isinstance(inside, str) else None)
    else:
        for entry in nav:
            yield from _titles_in(entry)


def on_files(files, config):
    """Adds what pages of docs/ and the navigation lead to, and what that leads to."""
    _came_from.clear()
    wanted = list(MADE)
    for file in files.documentation_pages():
        path = f"docs/{file.src_uri}"
        _came_from[file.src_uri] = path
        wanted += _linked(path, file.content_string)
    wanted += [page for page in _titles if files.get_file_from_path(page) is None and not page.startswith("api/")]
    while wanted:
        path = wanted.pop()
        if files.get_file_from_path(place_in_site(path)) is None:
            wanted += _linked(path, _add(files, config, path))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links as the site has them, and what search engines are told."""
    del config, files
    path = _came_from[page.file.src_uri]
    here = posixpath.dirname(page.file.src_uri) or "."

    def change(target):
        if links.is_elsewhere(target) or target.startswith("#"):
            return target
        other, anchor = links.resolve(path, target)
        return posixpath.relpath(place_in_site(other), here) + (f"#{anchor}" if anchor else "")

    def title(match):
        """A file's name as the text of a link becomes what the page is called."""
        path_in_site = place_in_site(links.resolve(path, match.group("target"))[0])
        name = _titles.get(path_in_site) or _first_heading(path_in_site)
        return f"[{name}]({match.group('target')})" if name else match.group(0)

    is_generated = page.file.src_uri.startswith(("api/", "source/")) and not path.endswith("/")
    if page.file.src_uri.startswith(NOT_SEARCHED):
        page.meta["search"] = {"exclude": True}
    elif page.file.src_uri.startswith(SEARCHED_LAST):
        page.meta["search"] = {"boost": 0.3}
    if not re.search(r"^## |^:::", markdown, re.MULTILINE):
        page.meta["hide"] = ["toc"]
    heading = re.search(r"^# (.*)$", markdown, re.MULTILINE)
    if heading:
        page.meta.setdefault("title", heading.group(1).replace("`", ""))
    page.meta.setdefault("description", _first_sentence(markdown))
    if is_generated and not (ROOT / path).is_dir():
        return markdown
    # What says how a block is run (docs/stories) stands behind its language, where mkdocs wants nothing.
    markdown = re.sub(r"^(```\w+) .*$", r"\1", markdown, flags=re.MULTILINE)
    return links.replace(_in_table_rows(_FILE_NAME.sub(title, markdown)), change)


def on_page_content(html, page, config, files):
    """Cells with sentences are told from those with words and numbers: they need some width."""
    del page, config, files
    return re.sub(r"<td>(?=(?:(?!</td>).){50,}</td>)", '<td class="sentence">', html)


def _first_heading(path_in_site):
    path = next((path for uri, path in _came_from.items() if uri == path_in_site), "")
    heading = re.search(r"^# (.*)$", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE) if path else None
    return heading.group(1) if heading else None


def _in_table_rows(markdown):
    """GitHub wants a bar in a table's code as \\|, and shows it as a bar; here it is a bar in code anyway."""
    def code(match):
        return match.group(0).replace("\\|", "|")

    return re.sub(r"^\|.*$", lambda row: re.sub(r"`[^`]*`", code, row.group(0)), markdown, flags=re.MULTILINE)


def _first_sentence(markdown):
    for block in re.split(r"\n\s*\n", markdown):
        if re.match(r"[\w*`\[(]", block):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(block.split())).replace("`", "").replace("*", "")
            return _SENTENCE.match(text + ".").group(1)
    return ""
