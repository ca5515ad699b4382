/* Credit for messages between two ranks. Each rank sends MESSAGES messages with each of two keys to the other one. Key
   `ours` is received by receives of Taut's, key `foreign` by receives that bypass Taut.

   Claims: a receive that bypasses Taut gets no frames; every rank comes to the end of MPI_Finalize; no credit is left in
   the private communicator then.

   A credit is sent synchronously: `underway` counts those of a rank that are not received. It may arrive late: a sender
   may find none although it is on its way. Messages may be received while MPI_Finalize runs (callbacks of the program).

   source: src/communication/p2p/credits.cpp
   | if (finished_ || found == comms_.end()) return false;
   | return named.granted.insert(key).second;
   | if (contains(comm, key, &NamedComm::held)) return true;
   | found->second->held.insert(key_of(credit.rank, credit.tag));

   source: src/communication/p2p/credit_channel.cpp
   | if (barrier_ == MPI_REQUEST_NULL && all_received()) code = PMPI_Ibarrier(comm_, &barrier_);

   source: src/communication/dropin/program_endpoint.cpp
   | : !has_credit(message)      ? Fallback::credit

   Mutations: on_trust, any_key, barrier_at_once, late_grants. */
#ifndef MESSAGES
#define MESSAGES 2
#endif
#define ours 0
#define foreign 1
#define peer (1 - me)

typedef Rank { bit granted[2]; bit held[2]; bit finished; byte sent[2]; byte got[2]; byte underway };
Rank ranks[2];
chan messages[4] = [MESSAGES] of { bit };  /* by receiver and key; the bit: coded */
chan credits[2] = [4] of { bit };          /* by the rank that receives them: keys */
byte in_barrier = 0;

inline take_credits() {
  do
  :: credits[me] ? key ->
    ranks[me].held[key] = 1;
    ranks[peer].underway--
  :: break  /* there are none, or they have not arrived yet */
  od
}

inline send_one(k) {
  if
  :: !ranks[me].held[k] -> take_credits()
  :: else
  fi;
#ifdef on_trust
  messages[2 * peer + k] ! 1;
#else
#ifdef any_key
  messages[2 * peer + k] ! (ranks[me].held[ours] || ranks[me].held[foreign]);
#else
  messages[2 * peer + k] ! ranks[me].held[k];
#endif
#endif
  ranks[me].sent[k]++
}

inline receive_one(k) {
  messages[2 * me + k] ? coded;
  ranks[me].got[k]++;
  if
  :: k == foreign -> assert(!coded)
#ifdef late_grants
  :: k == ours && !ranks[me].granted[k] ->
#else
  :: k == ours && !ranks[me].granted[k] && !ranks[me].finished ->
#endif
    ranks[me].granted[k] = 1;
    ranks[me].underway++;
    credits[peer] ! k
  :: else
  fi
}

proctype rank(byte me) {
  bit key, coded, entered;

  do
  :: ranks[me].sent[ours] < MESSAGES -> send_one(ours)
  :: ranks[me].sent[foreign] < MESSAGES -> send_one(foreign)
  :: len(messages[2 * me + ours]) > 0 -> receive_one(ours)
  :: len(messages[2 * me + foreign]) > 0 -> receive_one(foreign)
  :: ranks[me].sent[ours] == MESSAGES && ranks[me].sent[foreign] == MESSAGES -> break
  od;
  ranks[me].finished = 1;
  do
  :: len(credits[me]) > 0 -> take_credits()
  :: len(messages[2 * me + ours]) > 0 -> receive_one(ours)
  :: len(messages[2 * me + foreign]) > 0 -> receive_one(foreign)
#ifdef barrier_at_once
  :: !entered -> entered = 1; in_barrier++
#else
  :: !entered && ranks[me].underway == 0 -> entered = 1; in_barrier++
#endif
  :: in_barrier == 2 -> break
  od;
  assert(len(credits[me]) == 0)
}

init {
  atomic {
    run rank(0);
    run rank(1)
  }
}
