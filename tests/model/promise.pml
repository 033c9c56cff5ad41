// SPDX-License-Identifier: BSD-3-Clause
// A message that is asked for before it can be sent (protocol/machine.h, nic_promise() and nic_follow()): is there an
// order of events in which the asker is told that it will come, it gets lost, and nobody repeats it?
//
// Two processors of the sender's engine: one takes the question, the other makes the message go out. Both change words
// by compare-and-exchange, which orders what comes before and after. The network loses the first message; who repeats
// is the keeper, if the message was marked as owed, or the asker, if it was not told to wait.
//
//   BROKEN=1  the processor that promises doesn't look at the record again
//   BROKEN=2  the processor that sends looks for the mark before it changes the record

#ifndef BROKEN
#define BROKEN 0
#endif

bit reached;       // the record: the message's stage
bit owed;          // the word beside it
bit has_come;      // at the asker
bit is_told;       // the asker waits for what is owed
bit is_repeated;   // the keeper will repeat it
bit asked_over;    // the question has been answered
bit sent_over;

// The question comes.
active proctype Question() {
  if
  :: reached -> has_come = 1  // sent again: asked for until it comes
  :: else ->
     owed = 1;
     if
#if BROKEN != 1
     :: reached -> has_come = 1  // reached meanwhile: sent again
     :: !reached ->
#else
     :: true ->
#endif
        is_told = 1
     fi
  fi;
  asked_over = 1
}

// The last that was missing comes: the message goes out, and is lost.
active proctype Send() {
  bit is_marked;
#if BROKEN == 2
  is_marked = owed;
#endif
  reached = 1;
#if BROKEN != 2
  is_marked = owed;
#endif
  if
  :: is_marked -> is_repeated = 1
  :: else -> skip
  fi;
  sent_over = 1
}

// The keeper repeats what is marked in the word once it is reached, too: it sees both.
active proctype Asker() {
  (asked_over && sent_over);
  // Who hasn't been told asks again, and gets it.
  assert(has_come || !is_told || is_repeated)
}
