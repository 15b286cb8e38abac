import { ButtonLink } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";

interface ShellNoticeProps {
  text: string;
  /** The page that resolves the problem. */
  to: string;
  /** Label of the link. */
  way: string;
}

/** A warning above every page. */
export function ShellNotice({ text, to, way }: ShellNoticeProps) {
  return (
    <div className="mb-5">
      <Notice
        tone="warn"
        actions={
          <ButtonLink size="sm" to={to}>
            {way}
          </ButtonLink>
        }
      >
        {text}
      </Notice>
    </div>
  );
}
