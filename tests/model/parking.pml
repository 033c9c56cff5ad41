// SPDX-License-Identifier: BSD-3-Clause
// The parking protocol (src/platform/waiting/parking.h and its use by groups): is there an order of events in which a
// rank sleeps for good although what it waits for has been written?
//
// Stores may be delayed: each process has a queue of stores that reach memory some time later, in order, as on x86.
// Read-modify-writes act on memory at once and, to be on the weak side, let the process's own queue wait. There is no
// time: a sleep ends by a wake-up or never. A lost wake-up is therefore a deadlock, which the checker reports as an
// invalid end state.
//
//   ASYMMETRIC=1  wakers have no fence, the sleeper's membarrier waits until their queues have been empty
//   ASYMMETRIC=0  both sides have fences
//   BROKEN=1      the sleeper's membarrier, or else the wakers' fence, is left out: the checker must find the deadlock
//   BROKEN=2      the sleeper doesn't look again after announcing itself: likewise

#ifndef ASYMMETRIC
#define ASYMMETRIC 1
#endif
#ifndef BROKEN
#define BROKEN 0
#endif
#ifndef WAKERS
#define WAKERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

byte data[WAKERS];     // what waker i has written; it counts up
byte sleepers;         // how many ranks are announced; looked at before `parked`
bit parked;            // the futex word
bit asleep;            // the kernel's queue of this futex
byte rounds_done;

chan data_queue[WAKERS] = [ROUNDS] of { byte };  // waker i's stores on their way to memory
chan parked_queue = [2] of { bit };              // the sleeper's

// Stores reach memory.
active proctype Memory() {
  byte value;
  bit flag;
end:
  do
  :: atomic { data_queue[0]?value -> data[0] = value }
#if WAKERS > 1
  :: atomic { data_queue[1]?value -> data[1] = value }
#endif
#if WAKERS > 2
  :: atomic { data_queue[2]?value -> data[2] = value }
#endif
  :: atomic { parked_queue?flag -> parked = flag }
  od
}

proctype Waker(byte me) {
  byte round;
  bit was_parked;
  for (round : 1 .. ROUNDS) {
    data_queue[me]!round;  // the write it wakes for
#if !ASYMMETRIC && BROKEN != 1
    empty(data_queue[me]);  // waker_barrier
#endif
    if
    :: sleepers == 0 -> skip
    :: sleepers != 0 ->
       if
       :: parked == 0 -> skip
       :: parked != 0 ->  // wake(): exchange, then the system call
          atomic { was_parked = parked; parked = 0 }
          if
          :: was_parked -> asleep = 0
          :: else -> skip
          fi
       fi
    fi
  }
}

#if WAKERS == 1
#define ALL_WRITTEN(round) (data[0] >= round)
#elif WAKERS == 2
#define ALL_WRITTEN(round) (data[0] >= round && data[1] >= round)
#else
#define ALL_WRITTEN(round) (data[0] >= round && data[1] >= round && data[2] >= round)
#endif

proctype Sleeper() {
  byte round;
  byte i;
  for (round : 1 .. ROUNDS) {
    do
    :: ALL_WRITTEN(round) -> break
    :: !ALL_WRITTEN(round) ->
       parked_queue!1;  // announce
       sleepers++;
       empty(parked_queue);
#if ASYMMETRIC && BROKEN != 1
       for (i : 0 .. WAKERS - 1) {  // membarrier: each waker's queue is empty at some moment during the call
         empty(data_queue[i]);
       }
#endif
       if
#if BROKEN != 2
       :: ALL_WRITTEN(round) -> skip  // the second look
       :: !ALL_WRITTEN(round) ->
#else
       :: true ->
#endif
          atomic {  // FUTEX_WAIT compares and queues under the kernel's lock
            empty(parked_queue);
            if
            :: parked == 1 -> asleep = 1
            :: else -> skip
            fi
          }
          asleep == 0  // for ever, unless somebody wakes it
       fi;
       parked_queue!0;  // withdraw
       sleepers--
    od;
    rounds_done = round
  }
  assert(rounds_done == ROUNDS && sleepers == 0);
  assert(ALL_WRITTEN(ROUNDS))
}

init {
  byte i;
  atomic {
    for (i : 0 .. WAKERS - 1) {
      run Waker(i)
    }
    run Sleeper()
  }
}
