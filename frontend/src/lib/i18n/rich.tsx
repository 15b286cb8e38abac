import { Fragment, type ReactNode } from "react";

/** A text with marked parts, as in `Read <link>the page</link>.`; the function named after a mark draws it. */
export function Rich({ text, marks }: { text: string; marks: Record<string, (inner: string) => ReactNode> }) {
  const parts = text.split(/(<\w+>[^<]*<\/\w+>)/);
  return parts.map((part, index) => {
    const [, name = "", inner = ""] = /^<(\w+)>([^<]*)<\/\w+>$/.exec(part) ?? [];
    const draw = marks[name];
    return <Fragment key={index}>{draw ? draw(inner) : part}</Fragment>;
  });
}
