/* States of messages between a sender and a receiver (docs/adr/0110). Each message may refer to an earlier one, and
   leaves a state. Messages are decoded in any order; some are lost: truncated, or received past Taut. The receiver keeps
   the state of a message or does not, and credit for it comes late or never. The sender gives up states at any time.

   Claims: the receiver holds the state that a message refers to when it decodes it; a state that the sender has given
   up, and for which credit has come, is one that the receiver is told to forget, once no message needs it.

   source: src/communication/comm/message_history.cpp
   | if (found == sent_.end() || !found->second.credit || found->second.state == nullptr) return;
   | ++found->second.uses;
   | if (found == sent_.end() || std::exchange(found->second.credit, true)) return;
   | for (const std::uint64_t used : refers_to) unpin(used);
   | if (found->second.state != nullptr || !found->second.credit || found->second.uses > 0) return;
   | if (found == held_.end()) return {};

   source: src/communication/p2p/receive.cpp
   | if (comm->received().keep(notice.number, kept, recv.endpoint->history_bytes()))

   Mutations: on_trust, unpinned, credit_unkept. */
#ifndef MESSAGES
#define MESSAGES 4
#endif
#define M (MESSAGES + 1)

byte sent = 0;                                       /* messages so far; message 0 is none */
byte refers_to[M]; byte drops[M]; byte uses[M];
bit underway[M]; bit coming[M];                      /* messages; credits */
bit credit[M]; bit given_up[M]; bit to_drop[M]; bit told[M];
bit held[M];                                         /* by the receiver */

inline drop_if_free(k) {
  if
#ifdef unpinned
  :: given_up[k] && credit[k] && !told[k] -> to_drop[k] = 1
#else
  :: given_up[k] && credit[k] && uses[k] == 0 && !told[k] -> to_drop[k] = 1
#endif
  :: else
  fi
}

inline pick(k) { select(k : 1 .. MESSAGES) }

active proctype both() {
  byte k, r, d;
  do
  :: sent < MESSAGES -> atomic {  /* sends a message */
    r = 0; d = 0;
    if
    :: true  /* refers to none */
    :: sent > 0 -> select(r : 1 .. MESSAGES);
      if
#ifdef on_trust
      :: r <= sent && !given_up[r]
#else
      :: r <= sent && !given_up[r] && credit[r]
#endif
      :: else -> r = 0
      fi
    fi;
    if
    :: true  /* tells of none */
    :: sent > 0 -> select(d : 1 .. MESSAGES);
      if
      :: to_drop[d] -> to_drop[d] = 0; told[d] = 1
      :: else -> d = 0
      fi
    fi;
    sent++;
    refers_to[sent] = r; drops[sent] = d; underway[sent] = 1;
    if
    :: r > 0 -> uses[r]++
    :: else
    fi
  }
  :: atomic { pick(k);
    if
    :: k <= sent && !given_up[k] -> given_up[k] = 1; drop_if_free(k)
    :: else
    fi
  }
  :: atomic { pick(k);
    if
    :: underway[k] -> underway[k] = 0  /* loses a message */
    :: underway[k] -> underway[k] = 0;  /* decodes it */
      if
      :: drops[k] > 0 -> held[drops[k]] = 0
      :: else
      fi;
      assert(refers_to[k] == 0 || held[refers_to[k]]);
      if
      :: held[k] = 1; coming[k] = 1
#ifdef credit_unkept
      :: coming[k] = 1
#endif
      :: true
      fi
    :: else
    fi
  }
  :: atomic { pick(k);
    if
    :: coming[k] ->  /* credit comes */
      coming[k] = 0; credit[k] = 1;
      drop_if_free(k);
      r = refers_to[k];
      if
      :: r > 0 -> uses[r]--; drop_if_free(r)
      :: else
      fi
    :: else
    fi;
    assert(!credit[k] || !given_up[k] || uses[k] > 0 || to_drop[k] || told[k]);
    r = 0; d = 0
  }
  :: sent == MESSAGES -> break
  od
}
