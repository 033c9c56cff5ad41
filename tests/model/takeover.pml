// SPDX-License-Identifier: BSD-3-Clause
// A communicator that takes calls over from something else while ranks go on (engines/shared_memory/takeovers.h,
// communicator/setup/takeover.cc): is there an order of events in which two ranks have a call carried out by different
// ones, or one goes to a communicator that some rank hasn't made?
//
// Each rank begins CALLS calls that wait for nobody. At one of them, or at none, it finds that the job has met and
// makes its promise, of the calls so far, and before each further one it looks whether all have been heard; then comes
// the end, in which it either only leaves or settles the question for a call that waits for all. Promises change by
// compare-and-exchange.
//
//   BROKEN=1  who seals takes the next call for the first one of the communicator
//   BROKEN=2  a rank that leaves doesn't close its promise
//   BROKEN=3  who seals doesn't ask whether all have made the communicator
//   BROKEN=4  a rank that finds its promise sealed has it that all others are
//   BROKEN=5  a rank that finds late that the job has met promises only the call that it is in

#ifndef BROKEN
#define BROKEN 0
#endif
#ifndef RANKS
#define RANKS 3
#endif
#ifndef CALLS
#define CALLS 3
#endif

#define OPEN 0
#define SEALED 1
#define CLOSED 2
#define OLD 1
#define NEW 2

bit heard[RANKS];    // has its place
bit made[RANKS];
byte state[RANKS];
byte started[RANKS];   // the promise
byte carried[CALLS + 2];  // by whom, of those that the first to begin it has asked; 0: nobody yet
byte ends[2];        // how ranks have found it in the end, of each kind of end: 0 nobody yet
bit settles;         // the kind of end, the same on all ranks

inline find_answer() {
  most = 0;
  is_closed = 0;
  i = 0;
  do
  :: i < RANKS ->
     atomic {
       if
#if BROKEN == 4
       :: state[i] == OPEN && own_sealed -> skip
#endif
       :: state[i] == OPEN && !own_sealed -> state[i] = SEALED
#if BROKEN != 4
       :: state[i] == OPEN && own_sealed -> state[i] = SEALED
#endif
       :: else -> skip
       fi;
       if
       :: state[i] == CLOSED -> is_closed = 1
       :: else -> skip
       fi;
       if
       :: started[i] > most -> most = started[i]
       :: else -> skip
       fi
     }
     i++
  :: else -> break
  od;
  is_settled = 1;
  has_taken_over = !is_closed;
#if BROKEN == 1
  most = call - 1;
#endif
  first = most + 1
}

inline look() {
  all = 1;
  i = 0;
  do
  :: i < RANKS -> all = all && heard[i]; i++
  :: else -> break
  od;
  if
  :: all -> made[me] = 1
  :: else -> skip
  fi;
  all = made[me];
#if BROKEN != 3
  i = 0;
  do
  :: i < RANKS -> all = all && made[i]; i++
  :: else -> break
  od;
#endif
  if
  :: all -> find_answer()
  :: else -> skip
  fi
}

inline agree(word, answer) {
  atomic {
    assert(word == 0 || word == answer);
    word = answer
  }
}

proctype Rank(byte me) {
  byte call, i, most, first;
  bit has_joined, all, is_settled, has_taken_over, is_closed, own_sealed;
  call = 1;
  do
  :: call <= CALLS ->
     if
     :: !has_joined ->
        if
        :: has_joined = 1;
           atomic {
#if BROKEN == 5
             started[me] = 1;
#else
             started[me] = call;
#endif
             heard[me] = 1
           }
        :: skip
        fi
     :: else ->
        if
        :: !is_settled -> look()
        :: else -> skip
        fi;
        if
        :: !is_settled ->
           atomic {
             if
             :: state[me] == OPEN -> started[me]++
             :: else -> own_sealed = 1
             fi
           }
           if
           :: own_sealed -> find_answer()
           :: else -> skip
           fi
        :: else -> skip
        fi
     fi;
     if
     :: has_taken_over && call >= first ->
        i = 0;
        do
        :: i < RANKS -> assert(made[i]); i++
        :: else -> break
        od;
        agree(carried[call], NEW)
     :: else -> agree(carried[call], OLD)
     fi;
     call++
  :: else -> break
  od;
  if
  :: has_joined && !is_settled && settles -> look()
  :: else -> skip
  fi;
#if BROKEN != 2
  if
  :: has_joined && !is_settled ->
     atomic {
       if
       :: state[me] == OPEN -> state[me] = CLOSED
       :: else -> own_sealed = 1
       fi
     }
     if
     :: own_sealed -> find_answer()
     :: else -> skip
     fi
  :: else -> skip
  fi;
#endif
  agree(ends[settles], (has_taken_over -> NEW : OLD))
}

init {
  byte r;
  if
  :: settles = 0
  :: settles = 1
  fi;
  atomic {
    r = 0;
    do
    :: r < RANKS -> run Rank(r); r++
    :: else -> break
    od
  }
}
