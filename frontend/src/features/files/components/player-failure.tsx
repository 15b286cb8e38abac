import { Link } from "react-router";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import { formatPosition } from "@/lib/format";
import { type PlaybackFailure, mostRetries } from "../api/use-retries";
import { t } from "../en";

interface PlayerFailureProps {
  failure: PlaybackFailure;
  /** The server's sentence about the file; null if there is none. */
  serverSentence: string | null;
  onTryAgain: () => void;
}

/** Explains why a film does not play after all retries. */
export function PlayerFailure({ failure, serverSentence, onTryAgain }: PlayerFailureProps) {
  return (
    <Notice
      tone="bad"
      isAlert
      actions={
        <>
          <Link to="/logs" className="inline-flex min-h-6 items-center font-medium text-accent underline touch:min-h-11">
            {t("to-logs")}
          </Link>
          <Button onClick={onTryAgain}>{t("try-again")}</Button>
        </>
      }
    >
      {sentenceOf(failure)} {serverSentence}
    </Notice>
  );
}

// Codes of MediaError.
const network = 2;
const decode = 3;

function sentenceOf({ code, at }: PlaybackFailure): string {
  if (code === network) return t("failed-network", { most: mostRetries + 1 });
  return code === decode ? t("failed-decode", { time: formatPosition(at * 1_000) }) : t("failed-open");
}
