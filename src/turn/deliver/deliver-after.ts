/** Milliseconds in which who listens to a turn takes its `done`, and in which who waits for what another's turn said finds it. */
const LISTENS = 60_000;
const FINDS = 3_000;

/** From when on a reply that is committed now may be sent by itself: nobody shall get it twice who is there to take it. */
export const deliverAfter = (now: number, isUnheard: boolean): number => now + (isUnheard ? FINDS : LISTENS);
