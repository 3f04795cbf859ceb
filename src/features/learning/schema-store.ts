import { type Migration, newColumn, newTable } from "../../store/index.ts";

/** Lessons, and which of them were in requests. */
export const LESSON_TABLES: Migration = {
  number: 42,
  name: "lessons",
  statements: [
    newTable("lesson_source", {
      columns: `org text!, agent text!, contact text!, origin text!, place int!, kind text!, lesson text!, ends text, thread text!,
            turn text!, situation text!, wrong text!, instead text!, trust text!, at int!, link int!`,
      key: `org, agent, contact, origin, place`,
      references: [
        "org, agent, contact, thread -> thread (org, agent, contact, id)",
        "org, agent, contact, situation -> piece (org, agent, contact, digest)",
        "org, agent, contact, wrong -> piece (org, agent, contact, digest)",
        "org, agent, contact, instead -> piece (org, agent, contact, digest)",
      ],
    }),
    "create index lesson_source_link on lesson_source (org, link)",
    "create index lesson_source_lesson on lesson_source (org, agent, lesson, at)",
    newTable("lesson_cursor", {
      columns: "org text!, agent text!, what text!, upto int!",
      key: "org, agent, what",
    }),
    newTable("lesson_dismissal", {
      columns: `org text!, agent text!, lesson text!, by text!, by_id text, at int!, link int!`,
      key: "org, agent, lesson",
    }),
    "create index lesson_dismissal_link on lesson_dismissal (org, link)",
    newTable("learning_use", {
      columns: `org text!, agent text!, contact text!, turn text!, thread text!, version int, rules int!, stale int!,
            corrections text!`,
      key: "org, agent, contact, turn",
      references: ["org, agent, contact, turn -> turn (org, agent, contact, id)"],
    }),
    "create index learning_use_thread on learning_use (org, agent, contact, thread)",
  ],
};

/** What a retraction marks. */
export const RETRACTED_LESSONS: Migration = {
  number: 47,
  name: "retracted lessons",
  statements: [
    newColumn("lesson_source", "stale", "int"),
    newColumn("learning_use", "withdrawn", "int"),
    newColumn("learning_candidate", "offered", "text"),
  ],
};
