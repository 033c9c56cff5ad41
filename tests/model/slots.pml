// SPDX-License-Identifier: BSD-3-Clause
// Reuse of publication slots without a barrier at the end of a call: call n uses slot set n mod SETS, and a rank
// publishes in it only when every rank has finished call n - SETS. Calls are a mix of broadcasts, whose root runs ahead
// of everybody, and exchanges in which all publish and all read.
//
// Checked: what is read for call n was published for call n and is whole; nobody waits for ever; no rank is more than
// SETS calls ahead of a reader.
//
//   BROKEN=1  ranks don't wait for call n - SETS: a reader finds a later call's data
//   BROKEN=2  a rank says that it has finished before it has read
//   BROKEN=3  the tag is written before the data
//   BROKEN=4  who is seen in a call is taken to have finished that call, and not only the one before

#ifndef BROKEN
#define BROKEN 0
#endif
#ifndef RANKS
#define RANKS 3
#endif
#ifndef SETS
#define SETS 2
#endif
#ifndef CALLS
#define CALLS 5
#endif

#define SLOT(rank, call) ((rank) * SETS + (call) % SETS)
#define EXCHANGE RANKS  // a root beyond the ranks

byte tag[RANKS * SETS];   // the call that the slot was last published for
byte data[RANKS * SETS];  // likewise, if it is whole
byte finished[RANKS];
byte root[CALLS + 1];     // of each call, or EXCHANGE; the same for all ranks

proctype Rank(byte me) {
  byte call;
  byte other;
  byte known[RANKS];  // each is known to have finished this call; asked for only when it is too little
  byte value;
  for (call : 1 .. CALLS) {
    if
    :: root[call] == me || root[call] == EXCHANGE ->
#if BROKEN != 1
       for (other : 0 .. RANKS - 1) {
         if
         :: other != me && call > SETS && known[other] < call - SETS ->
            finished[other] >= call - SETS;  // waits
            known[other] = call - SETS
         :: else -> skip
         fi
       }
#endif
#if BROKEN == 3
       tag[SLOT(me, call)] = call;
       data[SLOT(me, call)] = call
#else
       data[SLOT(me, call)] = call;
       tag[SLOT(me, call)] = call
#endif
    :: else -> skip
    fi;
#if BROKEN == 2
    finished[me] = call;
#endif
    for (other : 0 .. RANKS - 1) {
      if
      :: other != me && (root[call] == other || root[call] == EXCHANGE) ->
         tag[SLOT(other, call)] >= call;  // polls
#if BROKEN == 4
         known[other] = call;
#else
         known[other] = call - 1;
#endif
         value = data[SLOT(other, call)];
         assert(value == call);
         assert(tag[SLOT(other, call)] == call);
         value = 0
      :: else -> skip
      fi
    }
    finished[me] = call
  }
  assert(finished[me] == CALLS)
}

init {
  byte i;
  atomic {
    for (i : 1 .. CALLS) {  // every mix of calls
      if
      :: root[i] = 0
      :: root[i] = RANKS - 1
      :: root[i] = EXCHANGE
      fi
    }
    for (i : 0 .. RANKS - 1) {
      run Rank(i)
    }
  }
}
