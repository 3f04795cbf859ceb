import type { HandlerFunction } from "strata/testing";

/** Finds a draft too long that has more than twelve words. */
const judge: HandlerFunction<{ text: string }> = ({ text }, { from_id }) => {
  const words = text.split(/\s+/).length;
  return { payload: words > 12 ? `Too long for ${from_id}: ${words} words.` : `Good: ${words} words.` };
};
export default judge;
