import { afterAll } from "vitest";
import "./measure/pages";
import "./measure/playing";
import "./measure/first-film";
import "./measure/changes";
import "./measure/long-lists";
import "./measure/watchers";
import "./measure/commands";
import { printTable } from "./measure/table";

// Prints the performance goals and a blank page for comparison as a table: `npm run measure`, or some of them with `-- -t pages`.
afterAll(() => printTable());
