import "@/types/api";

interface Count {
  kind: "settings" | "logins" | "files" | "history" | "queue" | "nzbs";
  found: number;
  taken: number;
  left: number;
}

interface FamilyImport {
  state: "none" | "looking" | "found" | "running" | "finished" | "failed";
  source: string | null;
  shape: string | null;
  /** 0 to 1. */
  progress: number;
  error: string | null;
  startedAt: string | null;
  finishedAt: string | null;
  counts: Count[];
  left: { kind: string; name: string; reason: string }[];
  leftTotal: number;
  notes: string[];
  notesTotal: number;
  kept: string[];
}

interface Answer<Status extends number> {
  parameters: { query?: never; header?: never; path?: never; cookie?: never };
  requestBody?: never;
  responses: { [Code in Status]: { headers: Record<string, unknown>; content: { "application/json": FamilyImport } } };
}

// Until openapi.json has it, when this file goes.
declare module "@/types/api" {
  interface paths {
    "/api/setup/import": {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      get: Answer<200>;
      post: Answer<202>;
    };
  }
}
