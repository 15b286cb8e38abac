import { Play } from "lucide-react";
import { useEffect, useState } from "react";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { DropZone } from "@/components/ui/drop-zone";
import { Notice } from "@/components/ui/notice";
import { Progress } from "@/components/ui/progress";
import { ApiProblem } from "@/lib/api-problem";
import { filmOf, useFolder, useJob } from "@/lib/job";
import { takeDrops } from "@/lib/page-drop";
import { queueFiles, useUploads } from "@/lib/upload-queue";
import { useFile } from "./api/file";
import { t } from "./en";
import { Player } from "./player";

/** Folder of the built-in clip, which exists while there is no provider. */
const clipFolder = "demo";

/** Plays a first film: a dropped NZB, or the built-in clip. */
export function TryStep() {
  const uploads = useUploads();
  const [known] = useState(() => new Set(uploads.items.ids));
  const [playing, setPlaying] = useState<string | null>(null);
  const clip = useFolder(clipFolder);
  // A drop anywhere on the page is meant for the zone.
  useEffect(() => takeDrops({ onOver: () => undefined, onFiles: (files) => void files.then((taken) => queueFiles(taken, t("not-an-nzb"))) }), []);
  const film = filmOf(clip.data?.items ?? []);
  const jobs = uploads.items.ids.map((id, index) => ({ id, name: uploads.items.names[index] ?? id })).filter((job) => !known.has(job.id));
  const clipError = clip.error && ApiProblem.from(clip.error);
  return (
    <div className="grid gap-4">
      <DropZone label={t("drop-label")} hint={film ? t("drop-no-provider") : t("drop-hint")} onFiles={(files) => void queueFiles(files, t("not-an-nzb"))} />
      {uploads.refused.map((refused) => (
        <Notice key={refused.name} tone="bad" isAlert>
          {t("refused", refused)}
        </Notice>
      ))}
      <ul className="grid gap-3 empty:hidden">
        {jobs.map((job) => (
          <Job key={job.id} id={job.id} name={job.name} playing={playing} onPlay={setPlaying} />
        ))}
      </ul>
      {film?.id && (
        <div className="grid gap-3 rounded-lg border border-line bg-raised px-3.5 py-3">
          <div className="flex flex-wrap items-center gap-3">
            <div className="min-w-0 flex-1 basis-56">
              <p className="font-medium">{t("or-clip")}</p>
              <p className="text-sm text-muted">{t("clip-about")}</p>
            </div>
            <PlayButton name={film.name} isPlaying={playing === film.id} onPlay={() => setPlaying(film.id)} />
          </div>
          {playing === film.id && <FilmPlayer id={film.id} name={film.name} />}
        </div>
      )}
      {clipError && clipError.status !== 404 && <Notice tone="warn">{t("clip-failed", { reason: clipError.title })}</Notice>}
    </div>
  );
}

interface JobProps {
  id: string;
  name: string;
  /** Id of the playing file; only one plays at a time. */
  playing: string | null;
  onPlay: (file: string) => void;
}

function Job({ id, name, playing, onPlay }: JobProps) {
  const { queued, finished } = useJob(id, name);
  const folder = useFolder(finished?.path ?? null);
  const film = filmOf(folder.data?.items ?? []);
  const isFailed = finished !== undefined && finished.path === null;
  return (
    <li className="grid gap-3 rounded-lg border border-line bg-raised px-3.5 py-3">
      <div className="flex flex-wrap items-center gap-3">
        <div className="min-w-0 flex-1 basis-56">
          <p className="font-medium wrap-anywhere">{finished?.name ?? queued?.name ?? name}</p>
          <p role="status" className="text-sm text-muted">
            {isFailed
              ? t("item-failed", { reason: finished.sentence ?? "" })
              : finished && folder.data && !film
                ? t("item-no-video")
                : finished
                  ? t("item-ready")
                  : (queued?.sentence ?? (queued?.state === "running" ? t("item-running") : t("item-queued")))}
          </p>
        </div>
        {isFailed && <Badge tone="bad">{t("item-refused")}</Badge>}
        {film?.id && <PlayButton name={film.name} isPlaying={playing === film.id} onPlay={() => onPlay(film.id ?? "")} />}
      </div>
      {!finished && <Progress label={t("progress", { name })} percent={queued?.percent ?? 0} />}
      {film?.id && playing === film.id && <FilmPlayer id={film.id} name={film.name} />}
    </li>
  );
}

function PlayButton({ name, isPlaying, onPlay }: { name: string; isPlaying: boolean; onPlay: () => void }) {
  if (isPlaying) return null;
  return (
    <Button tone="accent" icon={Play} aria-label={t("play-name", { name })} onClick={onPlay}>
      {t("play")}
    </Button>
  );
}

function FilmPlayer({ id, name }: { id: string; name: string }) {
  const file = useFile(id);
  if (file.error) return <Notice tone="bad" isAlert>{ApiProblem.from(file.error).title}</Notice>;
  return file.data ? <Player name={name} link={file.data.links.signed} /> : <div className="aspect-video w-full rounded-lg bg-sunken" />;
}
