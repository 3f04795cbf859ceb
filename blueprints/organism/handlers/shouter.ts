import type { HandlerFunction } from "strata/testing";

/** Says the message of a greeting in capitals. */
const shout: HandlerFunction<{ name: string; message: string }> = ({ message }) => ({
  payload: `${message.toUpperCase().replace(/[.!]+$/, "")}!`,
});
export default shout;
