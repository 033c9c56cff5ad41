// SPDX-License-Identifier: BSD-3-Clause
// Notices (src/engines/shared_memory/notices.cc): does each rank read what the others have left under a number, and is
// there an order of events in which it waits for a notice that has been overwritten?
//
// Stores may be delayed: each rank has a queue of stores that reach memory some time later, in order, as on x86. A
// deadlock is reported as an invalid end state. Each set-up is followed by the call that it was for, in which all ranks
// wait for each other; ERRORS of these end at once, as calls do that fail, and by then a rank leaves the next notice.
//
//   RANKS, PLACES  of a rank, SET_UPS
//   ERRORS=n       the first n calls end with an error, on any ranks
//   BROKEN=1       the text is written after its number
//   BROKEN=2       there is no place for the errors

#ifndef RANKS
#define RANKS 2
#endif
#ifndef ERRORS
#define ERRORS 0
#endif
#ifndef BROKEN
#define BROKEN 0
#endif
#ifndef SET_UPS
#define SET_UPS 3
#endif
#ifndef PLACES
#if BROKEN == 2
#define PLACES ERRORS
#else
#define PLACES (ERRORS + 1)
#endif
#endif

#define AT(rank, number) (rank) * PLACES + (number) % PLACES

byte number[RANKS * PLACES];
byte text[RANKS * PLACES];
byte arrived[SET_UPS + 1];  // ranks, in the call that a set-up was for
byte finished;

chan queue[RANKS] = [3 * SET_UPS] of { bit, byte, byte };  // is it a number, where, what

// Stores reach memory.
active proctype Memory() {
  bit is_number;
  byte at, value;
end:
  do
  :: atomic { queue[0]?is_number, at, value ->
       if :: is_number -> number[at] = value :: else -> text[at] = value fi }
  :: atomic { queue[1]?is_number, at, value ->
       if :: is_number -> number[at] = value :: else -> text[at] = value fi }
#if RANKS > 2
  :: atomic { queue[2]?is_number, at, value ->
       if :: is_number -> number[at] = value :: else -> text[at] = value fi }
#endif
  od
}

proctype Rank(byte me) {
  byte set_up, peer, seen;
  for (set_up : 1 .. SET_UPS) {
    queue[me]!1, AT(me, set_up), 0;
#if BROKEN == 1
    queue[me]!1, AT(me, set_up), set_up;
    queue[me]!0, AT(me, set_up), set_up;
#else
    queue[me]!0, AT(me, set_up), set_up;
    queue[me]!1, AT(me, set_up), set_up;
#endif
    peer = 0;
    do
    :: peer == RANKS -> break
    :: peer == me -> peer++
    :: peer != me && peer < RANKS ->
         number[AT(peer, set_up)] == set_up;  // until it is there
         seen = text[AT(peer, set_up)];
         if
         :: number[AT(peer, set_up)] == set_up -> assert(seen == set_up); peer++
         :: else -> skip
         fi
    od;
    if
    :: set_up > ERRORS ->
         empty(queue[me]);
         arrived[set_up]++;
         arrived[set_up] == RANKS
    :: else -> skip
    fi
  }
  finished++
}

init {
  byte i;
  atomic {
    for (i : 0 .. RANKS - 1) {
      run Rank(i)
    }
  }
}
