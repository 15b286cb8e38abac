import { ButtonLink } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";

interface ShellNoticeProps {
  text: string;
  /** Where something can be done about it. */
  to: string;
  /** The label of the way there. */
  way: string;
}

/** Says above every page what holds for all of them. */
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
