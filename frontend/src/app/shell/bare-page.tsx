import { type ReactNode, useEffect } from "react";
import { keepTypedText } from "@/lib/typed-text";
import { Brand } from "./brand";

/** A page without navigation, for login and setup. */
export function BarePage({ title, width = "sm", children }: { title: string; width?: "sm" | "lg"; children: ReactNode }) {
  useEffect(keepTypedText, []);
  return (
    <div className="flex min-h-dvh flex-col items-center px-4 py-8 sm:py-16">
      <header>
        <Brand />
      </header>
      <main className={width === "sm" ? "mt-8 w-full max-w-sm" : "mt-8 w-full max-w-3xl"}>
        <h1 tabIndex={-1} className="mb-5 text-center text-2xl font-semibold tracking-tight text-balance">
          {title}
        </h1>
        {children}
      </main>
    </div>
  );
}
