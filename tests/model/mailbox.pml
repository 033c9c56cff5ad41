// SPDX-License-Identifier: BSD-3-Clause
// The mailbox of an ordered pair: a ring of DEPTH lines with serial numbers. The sender fills a line and writes its
// serial number last; it looks at the receiver's count of consumed lines only when, by what it last saw, the ring is
// full. The receiver polls the line of the next serial number, reads the payload and counts it as consumed.
//
// Checked: what is read is whole and is the message that is due, in order, none lost; nobody waits for ever.
//
//   BROKEN=1  the sender doesn't look whether the ring is full: it overwrites what hasn't been read
//   BROKEN=2  the serial number is written before the payload
//   BROKEN=3  the receiver counts a line as consumed before it has read it

#ifndef BROKEN
#define BROKEN 0
#endif
#ifndef DEPTH
#define DEPTH 3
#endif
#ifndef MESSAGES
#define MESSAGES 10
#endif

// A payload of two words, so that half a message can be seen. Message n is (n, n); 0 is the initial state.
byte serial[DEPTH];
byte low[DEPTH];
byte high[DEPTH];
byte consumed;  // by the receiver, in its own memory
byte delivered;

proctype Sender() {
  byte seen_consumed;
  byte sent;
  byte line;
  for (sent : 1 .. MESSAGES) {
    line = sent % DEPTH;
#if BROKEN != 1
    do
    :: sent - seen_consumed <= DEPTH -> break  // room, by what was last seen
    :: sent - seen_consumed > DEPTH ->
       // Polls. Blocking here, so that a receiver that never consumes shows as a deadlock.
       atomic { consumed != seen_consumed -> seen_consumed = consumed }
    od;
#endif
#if BROKEN == 2
    serial[line] = sent;
#endif
    low[line] = sent;
    high[line] = sent;
#if BROKEN != 2
    serial[line] = sent
#endif
  }
}

proctype Receiver() {
  byte due;
  byte line;
  byte first;
  byte second;
  for (due : 1 .. MESSAGES) {
    line = due % DEPTH;
    serial[line] >= due;  // polls
#if BROKEN == 3
    consumed = due;
#endif
    first = low[line];
    second = high[line];
    assert(first == due);
    assert(second == due);
    assert(serial[line] == due);
    consumed = due;
    delivered = due
  }
  assert(delivered == MESSAGES)
}

init {
  atomic {
    run Sender();
    run Receiver()
  }
}
