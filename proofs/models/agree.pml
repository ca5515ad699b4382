/* The agreement of a communicator: N ranks, CALLS collective calls one after the other on the same lane, one fault.

   Claims: every rank comes to its end (a rank that waits for ever is an invalid end state), no two ranks decide
   differently on a call, calls that do not match are noticed, and no message of one call is taken for one of another call.

   A channel to[s * N + r] holds the messages from s to r, in their order, as MPI does on one communicator and tag. Sends
   do not wait. Faults of rank `victim`:
     other_call     its call has another signature
     other_version  its records have a version that no other rank can read, and it can read no other
     no_memory      it has an obstacle to report
     death          it stops anywhere; MPI then ends the job
     damage         one of its records is damaged on its way. Its receiver then ends the job (MPI_ERRORS_ARE_FATAL);
                    ranks may have decided differently until then
   Transports that send to all at once (NCCL) are not modelled.

   source: src/communication/comm/agree.cpp
   | receiving = transport.recv(std::as_writable_bytes(std::span(&other, 1)), (me - distance + P) % P, lane);
   | sending = transport.send(std::as_bytes(std::span(&sent, 1)), (me + distance) % P, lane);
   | other.version == mine.version && other.intact();
   | if (readable) {
   | mine.merge(other);
   | mine.note_unreadable();
   | for (int d = 1; d < transport.size(); d *= 2) {

   source: src/communication/comm/communicator.cpp
   | bool ready() override { return ended_ == number_ / calls_at_a_time; }
   | if (verdict.good()) verdict = co_await active.agree(active.plan());
   | if (verdict.good()) verdict = co_await active.execute();

   source: src/communication/comm/active_call.cpp
   | if (!agreed.same_signature()) return differing(agreed, call, rules);
   | if (const Verdict verdict = compared(agreed, call_, comm_.tuner_.rules()); !verdict.good()) return verdict;
   | if (has(AgreementMessage::short_of_memory))

   Mutations: ignore_unreadable, decide_alone, one_round_less, any_source, leave_on_error. */
#ifndef N
#define N 3
#endif
#define CALLS 2

#define own_signature 1
#define other_signature 2
#define lowest 0
#define highest 3

mtype = { none, other_call, other_version, no_memory, death, damage };
mtype = { coded, plain, mismatch };

typedef Record { byte call, low, high; bit obstacle, readable };
chan to[N * N] = [4] of { Record };

mtype fault = none;
byte victim = 0;
bit struck = 0;  /* the fault has happened */
bit ended = 0;   /* MPI has ended the job */

typedef Decision { mtype is };
Decision decided[CALLS];
bit made[CALLS];

inline merge(other) {
  if
  :: other.low < mine.low -> mine.low = other.low
  :: else
  fi;
  if
  :: other.high > mine.high -> mine.high = other.high
  :: else
  fi;
  mine.obstacle = mine.obstacle | other.obstacle
}

inline send(distance) {
  d_step {
    sent.call = mine.call; sent.low = mine.low; sent.high = mine.high; sent.obstacle = mine.obstacle;
    sent.readable = !(me == victim && fault == other_version)
  };
  if
  :: fault == damage && me == victim && !struck -> struck = 1; sent.readable = 0
  :: true
  fi;
  to[me * N + (me + distance) % N] ! sent
}

/* Receives, or leaves if the job has ended. */
inline receive(distance) {
  if
#ifdef any_source
  :: to[((me + N - 2) % N) * N + me] ? other
#endif
  :: to[((me + N - distance) % N) * N + me] ? other
  :: ended -> goto left
  fi
}

proctype rank(byte me) {
  Record mine, other, sent;
  byte call = 0, d;
  mtype verdict;

  do
  :: call == CALLS -> break
  :: else ->
    d_step {
      mine.call = call; mine.low = own_signature; mine.high = own_signature; mine.obstacle = 0;
      if
      :: call == 0 && me == victim && fault == other_call -> mine.low = other_signature; mine.high = other_signature
      :: else
      fi;
      if
      :: call == 0 && me == victim && fault == no_memory -> mine.obstacle = 1
      :: else
      fi
    };
#ifdef leave_on_error
    if
    :: mine.obstacle -> verdict = plain; goto concluded
    :: else
    fi;
#endif
    d = 1;
    do
#ifdef one_round_less
    :: 2 * d >= N -> break
#else
    :: d >= N -> break
#endif
    :: else ->
      if
      :: me == victim && fault == death && !struck -> struck = 1; ended = 1; goto left
      :: true
      fi;
      send(d);
      receive(d);
      assert(other.call == call);  /* no message of another call */
      if
      :: other.readable && !(me == victim && fault == other_version) -> merge(other)
      :: else ->
#ifndef ignore_unreadable
        mine.low = lowest; mine.high = highest
#endif
        skip
      fi;
      d = d * 2
    od;
    if
    :: mine.low != mine.high -> verdict = mismatch
#ifdef decide_alone
    :: mine.low == mine.high && me == victim && fault == no_memory && call == 0 -> verdict = plain
    :: mine.low == mine.high && !(me == victim && fault == no_memory && call == 0) -> verdict = coded
#else
    :: mine.low == mine.high && mine.obstacle -> verdict = plain
    :: mine.low == mine.high && !mine.obstacle -> verdict = coded
#endif
    fi;
concluded:
    if
    :: fault == damage && verdict == mismatch -> ended = 1; goto left
    :: else
    fi;
    assert(!(fault == other_version || (fault == other_call && call == 0)) || verdict == mismatch);
    assert(!(fault == no_memory && call == 0) || verdict == plain);
    atomic {
      if
      :: fault == damage
      :: fault != damage && made[call] -> assert(decided[call].is == verdict)  /* no two decide differently */
      :: fault != damage && !made[call] -> made[call] = 1; decided[call].is = verdict
      fi
    };
    if
    :: verdict == mismatch  /* an error, the same on every rank; under rules plain MPI, if all records were read */
    :: verdict != mismatch ->  /* both ways communicate: here along a ring, on the same channels */
      send(1);
      receive(1);
      assert(other.call == call)
    fi;
    call++
  od;
left:
  skip
}

init {
  byte i;
  atomic {
    select(i : 0 .. N - 1);
    victim = i;
    if
    :: fault = none
    :: fault = other_call
    :: fault = other_version
    :: fault = no_memory
    :: fault = death
    :: fault = damage
    fi;
    for (i : 0 .. N - 1) {
      run rank(i)
    }
  }
}
