/** What is made of a text, made once for all sentences that ask for it one after the other. Only the last text is kept. */
export function ofLast<T>(make: (text: string) => T): (text: string) => T {
  let last: { readonly text: string; readonly made: T } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, made: make(text) };
    return last.made;
  };
}
