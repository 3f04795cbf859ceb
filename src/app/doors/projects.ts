/** What a folder declares and what is shipped, for commands that open no record. */
export { blueprintFolder, blueprintNames } from "../../agents/index.ts";
export { type ProjectLock, projectLock } from "../project-lock.ts";
