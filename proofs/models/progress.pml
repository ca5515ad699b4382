/* The progress thread: N ranks, each with a program that starts CALLS nonblocking calls and then waits inside MPI, outside
   Taut, for what only the calls' completion brings about; and a thread that drives the calls.

   Claims: no wake-up is lost and no lock is waited for in a circle, so some process can always go on until every rank is
   at its end; MPI_Finalize ends the thread, also where the program has not waited for its calls. Not claimed: that a lock
   is given to every thread that asks for it again and again.

   The model's wait has no end, though the code's ends after 10 ms: the claims hold without that.

   A call completes on a rank once every rank has taken its first step. One fault: a rank dies, and MPI ends the job.

   source: src/communication/api/state/progress_thread.cpp
   | std::unique_lock lock(state.mutex);
   | state.wake.wait_until(lock, end, [&] { return state.stopping || work.pending(); });
   | if (state.stopping) return;
   | lock.unlock();
   | work.take_step();
   | lock.lock();
   | const std::lock_guard lock(state.mutex);
   | state.wake.notify_one();
   | if (!state.running.exchange(false)) return;
   | state.stopping = true;
   | state.wake.notify_one();
   | state.thread.join();

   source: src/communication/api/state/calls_in_flight.hpp
   | calls_.start(*call);
   | count();
   | wake_progress_thread();
   | const std::unique_lock lock(driving_, std::try_to_lock);
   | if (lock.owns_lock()) drive();

   source: src/communication/api/state/comm_registry.cpp
   | end_progress_thread();
   | for (Backoff backoff; calls_in_flight(); backoff.pause()) progress(nullptr);

   Mutations: wake_without_lock, stop_without_notice, never_woken. */
#ifndef N
#define N 2
#endif
#ifndef CALLS
#define CALLS 2
#endif

bit mutex[N];      /* Driver::mutex */
bit driving[N];    /* CallsInFlight::driving_ */
bit waits[N];      /* the thread waits on the condition */
bit stops[N], gone[N];
byte open[N];      /* calls in flight */
byte steps[CALLS]; /* ranks that have taken the first step of the call */
bit complete[N * CALLS], begun[N * CALLS];
bit ended = 0;     /* MPI has ended the job */

#define done(call) complete[me * CALLS + call]
#define all_done (done(0) && done(CALLS - 1))

inline lock(what) { atomic { what == 0 -> what = 1 } }
inline unlock(what) { what = 0 }

/* CallsInFlight::drive: each call that can complete does. */
inline drive() {
  c = 0;
  do
  :: c == CALLS -> break
  :: else ->
    atomic {
      if
      :: begun[me * CALLS + c] && !complete[me * CALLS + c] && (steps[c] == N || ended) ->
        complete[me * CALLS + c] = 1; open[me]--
      :: else
      fi
    };
    c++
  od
}

/* CallsInFlight::progress: only if no other thread drives. */
inline progress() {
  if
  :: atomic { driving[me] == 0 -> driving[me] = 1 };
    drive();
    unlock(driving[me])
  :: driving[me] == 1
  fi
}

proctype thread(byte me) {
  byte c;
  lock(mutex[me]);
again:
  if
  :: stops[me] -> goto stopped
  :: else
  fi;
  if
  :: open[me] == 0 ->
    atomic { waits[me] = 1; unlock(mutex[me]) };
    waits[me] == 0;
    lock(mutex[me]);
    goto again
  :: else
  fi;
  unlock(mutex[me]);
  progress();
  lock(mutex[me]);
  goto again;
stopped:
  unlock(mutex[me]);
  gone[me] = 1
}

inline wake() {
#ifdef never_woken
  skip
#else
#ifdef wake_without_lock
  waits[me] = 0
#else
  lock(mutex[me]);
  waits[me] = 0;
  unlock(mutex[me])
#endif
#endif
}

proctype program(byte me) {
  byte call = 0, c;
  bit waits_for_calls;

  do
  :: call == CALLS -> break
  :: else ->
    lock(driving[me]);
    begun[me * CALLS + call] = 1;
    steps[call]++;
    open[me]++;
    wake();
    unlock(driving[me]);
    call++
  od;
  if
  :: me == 0 && !ended -> ended = 1; goto left  /* rank 0 may die */
  :: waits_for_calls = 1
  :: waits_for_calls = 0
  fi;
  if
  :: waits_for_calls ->  /* in MPI, outside Taut */
    all_done || ended
  :: else
  fi;
  /* MPI_Finalize */
  lock(mutex[me]);
  stops[me] = 1;
#ifndef stop_without_notice
  waits[me] = 0;
#endif
  unlock(mutex[me]);
  gone[me] == 1;
  do
  :: open[me] == 0 -> break
  :: else -> progress()
  od;
  assert(all_done);
  goto finished;
left:  /* the process is gone, with its thread */
  lock(mutex[me]);
  stops[me] = 1;
  waits[me] = 0;
  unlock(mutex[me]);
finished:
  skip
}

init {
  byte i;
  atomic {
    for (i : 0 .. N - 1) {
      run thread(i);
      run program(i)
    }
  }
}
