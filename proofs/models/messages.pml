/* Long messages between two ranks, in segments: SENDERS ranks send MESSAGES messages of SEGMENTS segments each to one
   receiver, which receives them in any order, and may sit in a barrier between posting and waiting. One fault.

   Claims: every rank comes to its end; the segments of a message arrive in their order and are not mixed with those of
   another message; what is dropped in MPI_Finalize belongs to messages that were truncated.

   The first segment is matched by MPI (`posted`, `matched`); the others wait in MPI until the receiver asks for them, in
   order, under a tag of their own. All messages have the same source rank's tag, so that MPI matches them in order.
   Faults of message `victim`: truncated (the receive is too short for the first segment), refused (it is too short for the
   values: all segments are received and dropped), death (its sender stops anywhere; MPI then ends the job).

   source: src/communication/p2p/send.cpp
   | const int code = p2p::start(TAUT_PMPI(Issend), sent, request);
   | return code == MPI_SUCCESS ? start_segments() : code;
   | if (left_ == 0 || gave_up_) return true;
   | if (matched == 0) return false;
   | if (done == 0) break;  // segments are received in order
   | gave_up_ = left_ != 0 && idle_ > patience;
   | return left_ == 0 || gave_up_;
   | PMPI_Ibarrier(comm->handle(), &barriers.emplace_back(MPI_REQUEST_NULL));
   | for (Backoff backoff; !clear_sent() || all_here == 0; backoff.pause()) {
   | if (all_here != 0 && clock_now() - since > last_patience) break;

   source: src/communication/p2p/receive.cpp
   | for (std::size_t i = 1; i <= std::min(window, segments_ - 1); ++i) post(i);
   | for (; arrived_ < segments_; ++arrived_) {
   | if (arrived_ + window < segments_) post(arrived_ + window);

   Mutations: impatient_never, one_tag, drop_at_once, forget_window. */
#ifndef SENDERS
#define SENDERS 1
#endif
#define MESSAGES 2
#define SEGMENTS 4
#define WINDOW 2
#define ALL (SENDERS * MESSAGES)

mtype = { none, truncated, refused, death };
mtype fault = none;
byte victim = 0;
bit ended = 0;

bit posted[ALL];     /* the receive of the first segment is posted */
bit started[ALL];    /* its send is started */
bit received[ALL];   /* the receiver has taken all segments that it asks for */
byte in_barrier = 0, finalizing = 0, finished = 0;

typedef Segment { byte message, number };
#ifdef one_tag
#define tag(m) ((m) / MESSAGES * MESSAGES)
#else
#define tag(m) (m)
#endif
chan segments[ALL] = [MESSAGES * SEGMENTS] of { Segment };

#define matched(m) (started[m] && posted[m])

/* Waits for a condition, or leaves if the job has ended. */
inline wait_for(condition) {
  if
  :: condition
  :: ended -> goto left
  fi
}

inline barrier(count) {
  count++;
  wait_for(count == SENDERS + 1)
}

proctype sender(byte me) {
  Segment one;
  byte m = me * MESSAGES, i;
  bit gave_up = 0;

  do
  :: m == (me + 1) * MESSAGES -> break
  :: else ->  /* Send::start */
    atomic {
      started[m] = 1;
      for (i : 1 .. SEGMENTS - 1) {
        one.message = m; one.number = i;
        segments[tag(m)] ! one
      }
    };
    if
    :: fault == death && victim == m -> ended = 1; goto left
    :: true
    fi;
    m++
  od;
  m = me * MESSAGES;
  do
  :: m == (me + 1) * MESSAGES -> break
  :: else ->  /* Send::ready; the patience may be over at any time after the match */
    wait_for(matched(m));
    if
    :: len(segments[tag(m)]) == 0
#ifndef impatient_never
    :: len(segments[tag(m)]) != 0 -> gave_up = 1
#endif
    :: ended -> goto left
    fi;
    m++
  od;
  barrier(in_barrier);
#ifdef drop_at_once
  skip;
#else
  barrier(finalizing);
  /* One second later, every receive that was ever posted has taken its segments. */
  wait_for(finished == 1);
#endif
  m = me * MESSAGES;
  do
  :: m == (me + 1) * MESSAGES -> break
  :: else ->
    assert(len(segments[tag(m)]) == 0 || fault == truncated || ended);
    m++
  od;
left:
  skip
}

proctype receiver() {
  Segment one;
  byte m = 0, i, order, done = 0, asked;
  bit late;

  do
  :: m == ALL -> break
  :: else -> posted[m] = 1; m++
  od;
  select(late : 0 .. 1);
  if
  :: late -> barrier(in_barrier)  /* it waits for the messages behind the barrier */
  :: else
  fi;
  do
  :: done == ALL -> break
  :: else ->
    select(order : 0 .. ALL - 1);
    if
    :: received[order] -> skip
    :: else ->
      m = order;
      wait_for(started[m]);
      if
      :: fault == truncated && victim == m  /* no segment is asked for */
      :: else ->
        asked = (SEGMENTS - 1 < WINDOW -> SEGMENTS - 1 : WINDOW);
        i = 1;
        do
        :: i == SEGMENTS -> break
        :: else ->
          assert(i <= asked);
          if
          :: segments[tag(m)] ? one
          :: ended -> goto left
          fi;
          assert(one.message == m && one.number == i);
#ifndef forget_window
          asked = (i + WINDOW < SEGMENTS -> asked + 1 : asked);
#endif
          i++
        od
      fi;
      received[m] = 1;
      done++
    fi
  od;
  if
  :: late
  :: else -> barrier(in_barrier)
  fi;
#ifndef drop_at_once
  barrier(finalizing);
#endif
  finished = 1;
left:
  skip
}

init {
  byte i;
  atomic {
    select(i : 0 .. ALL - 1);
    victim = i;
    if
    :: fault = none
    :: fault = truncated
    :: fault = refused
    :: fault = death
    fi;
    run receiver();
    for (i : 0 .. SENDERS - 1) {
      run sender(i)
    }
  }
}
