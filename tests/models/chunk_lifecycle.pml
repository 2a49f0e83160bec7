/* The life of chunks of one hash, for exhaustive search: two uploads of the same bytes, each perhaps deleted again, the
 * collector, the sweeper, a crash at any moment that keeps or loses each unflushed name at will, then a third upload.
 *
 * Rows, files and queue entries are arrays over chunk ids; id 0 is what may lie there from before. A name is `dur` when
 * it survives a loss of power. What must hold at all times: a chunk that is referred to is live, its file is there, and
 * its name is durable.
 *
 * Each macro below plants one mistake; chunk_lifecycle_test.py proves that every one of them is refuted:
 *   REUSE_DYING    a dying row is taken up again
 *   UNLINK_EARLY   the file goes before `dying` is committed
 *   SWEEP_UNLINKS  the sweeper removes files without giving them a row
 *   NO_OWN_LOOK    an upload does not look whether its file is still there after it inserted its row
 *   EARLY_PROOF    the collector proves that nothing refers to the chunk before it holds the lock
 *   NO_DIR_SYNC    the row is committed before the name is flushed
 */
#define N 4
#define NOBODY 9

mtype = { none, live, dying };

mtype row[N] = none;  /* committed */
bit file[N], dur[N];  /* the name as a process sees it; as a crash leaves it */
bit queued[N];
byte refs[N];         /* committed references */
byte share[N];        /* FOR KEY SHARE */
bit excl[N];          /* FOR UPDATE */
byte pending = NOBODY; /* the id whose live row is inserted and not committed: the unique index admits one */
byte boot = 0;        /* how often the machine has started */
byte running = 0;     /* processes of this boot */

inline promise() {
  d_step {
    assert(refs[0] == 0 || (row[0] == live && file[0] && dur[0]));
    assert(refs[1] == 0 || (row[1] == live && file[1] && dur[1]));
    assert(refs[2] == 0 || (row[2] == live && file[2] && dur[2]));
    assert(refs[3] == 0 || (row[3] == live && file[3] && dur[3]));
    assert(((row[0] == live) + (row[1] == live) + (row[2] == live) + (row[3] == live)) <= 1);
  }
}

#ifdef REUSE_DYING
#define USABLE(i) (row[i] != none)
#else
#define USABLE(i) (row[i] == live)
#endif

inline find_live(r) {
  d_step {
    r = NOBODY;
    if :: USABLE(0) -> r = 0 :: else fi;
    if :: r == NOBODY && USABLE(1) -> r = 1 :: else fi;
    if :: r == NOBODY && USABLE(2) -> r = 2 :: else fi;
    if :: r == NOBODY && USABLE(3) -> r = 3 :: else fi;
  }
}

proctype upload(byte id, mine) {
  byte r;
  {
    file[id] = 1;                                     /* rename into place; the bytes were flushed before */
#ifndef NO_DIR_SYNC
    dur[id] = file[id];                               /* fsync of the directory */
#endif
again:
    find_live(r);                                     /* 6a: snapshot */
    if
    :: r != NOBODY ->
      atomic {                                        /* wait for the lock, then judge again */
        excl[r] == 0;
        if :: USABLE(r) -> share[r]++ :: else -> goto again fi
      }
    :: else ->
      atomic {                                        /* 6b: insert */
        pending == NOBODY;
        find_live(r);
        if :: r != NOBODY -> goto again :: else fi;
        if :: row[id] != none -> goto gone :: else -> pending = id; r = id fi
      };
#ifndef NO_OWN_LOOK
      atomic {                                        /* 6c: our own name */
        if :: file[id] == 0 -> pending = NOBODY; goto gone :: else fi
      }
#endif
    fi;
    atomic {                                          /* commit, with the reference; then the answer */
      if
      :: pending == id -> row[id] = live; pending = NOBODY
      :: else -> share[r]--
      fi;
      refs[r]++;
      promise()
    };
    if :: r != id -> file[id] = 0 :: else fi;         /* somebody had these bytes already */
    if
    :: atomic { refs[r]--; queued[r] = 1 }            /* deleted again */
    :: true
    fi;
gone:
    atomic { r = 0; boot == mine; running-- }
  } unless { atomic { boot != mine; r = 0; running-- } }
}

proctype collect(byte mine) {
  byte r;
  byte seen;
  {
end:
    do
    :: atomic { if :: queued[0] -> r = 0 :: queued[1] -> r = 1 :: queued[2] -> r = 2 :: queued[3] -> r = 3 fi };
#ifdef EARLY_PROOF
       seen = refs[r];
#endif
       atomic {                                       /* for update skip locked */
         if
         :: row[r] == none -> queued[r] = 0; goto next
         :: row[r] != none && (excl[r] || share[r] > 0) -> goto next
         :: else -> excl[r] = 1
         fi
       };
#ifndef EARLY_PROOF
       seen = refs[r];                                /* a statement of its own, under the lock */
#endif
       if
       :: seen > 0 -> atomic { queued[r] = 0; excl[r] = 0 }
       :: else ->
#ifdef UNLINK_EARLY
          file[r] = 0;
#endif
          if
          :: atomic { excl[r] = 0; goto next }        /* the session is lost: rolled back */
          :: atomic { row[r] = dying; excl[r] = 0; promise() }
          fi;
          file[r] = 0;
          dur[r] = file[r];
          atomic { row[r] = none; queued[r] = 0 }
       fi;
next:  atomic { r = 0; seen = 0 }
    od
  } unless { atomic { boot != mine; r = 0; seen = 0; running-- } }
}

proctype sweep(byte mine) {
  byte u;
  {
end:
    do
    :: atomic {
         if
         :: file[0] && row[0] == none -> u = 0
         :: file[1] && row[1] == none -> u = 1
         :: file[2] && row[2] == none -> u = 2
         :: file[3] && row[3] == none -> u = 3
         fi
       };
#ifdef SWEEP_UNLINKS
       file[u] = 0
#else
       atomic {                                       /* insert ... on conflict do nothing; waits for an open insert */
         pending != u;
         if :: row[u] == none -> row[u] = dying; queued[u] = 1 :: else fi;
         u = 0
       }
#endif
    od
  } unless { atomic { boot != mine; u = 0; running-- } }
}

inline cut(i) {
  share[i] = 0;
  excl[i] = 0;
  if
  :: file[i] != dur[i] -> file[i] = dur[i]
  :: file[i] != dur[i] -> dur[i] = file[i]
  :: else
  fi
}

proctype crash() {
  atomic {
    boot++;
    pending = NOBODY;
    cut(0); cut(1); cut(2); cut(3);
    promise()
  };
  atomic {
    running == 0;                                     /* what was in their memory is gone */
    running = 3;
    run upload(3, boot);
    run collect(boot);
    run sweep(boot)
  }
}

init {
  atomic {
    if
    :: true                                                            /* nothing there */
    :: row[0] = live; file[0] = 1; dur[0] = 1; refs[0] = 1             /* in use */
    :: row[0] = live; file[0] = 1; dur[0] = 1; queued[0] = 1           /* to be collected */
    :: row[0] = dying; file[0] = 1; dur[0] = 1; queued[0] = 1          /* half collected */
    fi;
    running = 4;
    run upload(1, 0);
    run upload(2, 0);
    run collect(0);
    run sweep(0);
    run crash()
  }
}
