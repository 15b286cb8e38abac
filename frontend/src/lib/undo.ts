import { api } from "./api-client";
import { attempt } from "./attempt";
import { listChanged } from "./live-list";
import { toast } from "./toast";

interface UndoTexts {
  /** The event, as in "3 items removed". */
  title: string;
  /** Label of the button. */
  undo: string;
  /** Title of the toast if the removal cannot be undone. */
  failed: string;
}

/** Reports a removal and offers to undo it within the ten seconds that the server allows. */
export function offerUndo(undo: string | null, texts: UndoTexts): void {
  async function run(id: string) {
    await attempt(api.POST("/api/undo/{id}", { params: { path: { id } } }), texts.failed);
    listChanged("queue");
    listChanged("history");
  }
  toast({ title: texts.title, seconds: 10, ...(undo === null ? {} : { action: { label: texts.undo, run: () => void run(undo) } }) });
}
