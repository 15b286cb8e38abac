import { api } from "./api-client";
import { attempt } from "./attempt";
import { listChanged } from "./live-list";
import { toast } from "./toast";

interface UndoTexts {
  /** What has happened, as in "3 items removed". */
  title: string;
  /** What the button says. */
  undo: string;
  /** What stands over the reason when it could not be taken back. */
  failed: string;
}

/** Says what was taken away, and takes it back on a press within the ten seconds that the server allows. */
export function offerUndo(undo: string | null, texts: UndoTexts): void {
  async function run(id: string) {
    await attempt(api.POST("/api/undo/{id}", { params: { path: { id } } }), texts.failed);
    listChanged("queue");
    listChanged("history");
  }
  toast({ title: texts.title, seconds: 10, ...(undo === null ? {} : { action: { label: texts.undo, run: () => void run(undo) } }) });
}
