import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import type { Page } from "playwright-core";

const axeScript = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

declare const axe: { run: (context: Document, options: RunOptions) => Promise<AxeResults> };

/** Waits until no Skeleton is left in the page or a dialog. A running import step uses the same animation, but is not a div. */
export async function settle(page: Page): Promise<void> {
  try {
    await page.waitForFunction(() => document.querySelector("main") !== null && document.querySelector("div.animate-breathe") === null, undefined, { polling: 100 });
  } catch (cause) {
    throw new Error(`The page still waits: ${await pending(page)}`, { cause });
  }
}

/** Describes the content of a page and its unanswered requests, for the error message. */
async function pending(page: Page): Promise<string> {
  const shown = await page.evaluate(() => `${location.pathname} ${document.readyState} "${document.body.innerText.replace(/\s+/g, " ").slice(0, 200)}"`);
  const open = (await page.requests()).filter((request) => request.timing().responseEnd < 0).map((request) => request.url());
  return `${shown}, without an answer: ${open.slice(0, 10).join(" ")}`;
}

/** Returns the broken rules of WCAG 2.0 A to 2.2 AA and best practice, each with its elements; empty if all pass. */
export async function brokenRules(page: Page, options: { contrastOnly?: boolean } = {}): Promise<string[]> {
  // Evaluated through the debugger, because the page's content security policy would block a script tag.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(await axeScript);
  const only = options.contrastOnly
    ? { type: "rule" as const, values: ["color-contrast"] }
    : { type: "tag" as const, values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
  return page.evaluate(async (runOnly) => {
    // Without resultTypes axe also lists the elements of passed rules, which takes longer than the check itself.
    const { violations } = await axe.run(document, { runOnly, resultTypes: ["violations"] });
    return violations.map((rule) => `${rule.id}: ${rule.nodes.map((node) => node.target.join(" ")).join(" | ")}`);
  }, only);
}

/** Returns by how many pixels the page is wider than its window, for each width; 0 if it fits. */
export async function overflowAt(page: Page, widths: readonly number[] = [320, 390, 768, 1_280]): Promise<number[]> {
  const overflows: number[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 780 });
    const overflow = await page.evaluate(async () => {
      // The layout follows the new width in the next frame.
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      return Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth);
    });
    overflows.push(overflow);
  }
  return overflows;
}

/** Returns the controls smaller than `pixels`: 24 in general, 44 for touch. Links inside sentences are exempt. */
export async function smallTargets(page: Page, pixels = 24): Promise<string[]> {
  return page.evaluate((least) => {
    const found: string[] = [];
    for (const element of document.querySelectorAll<HTMLElement>("a[href], button, input:not([type=hidden]), select, textarea, summary, [role=menuitem], [role=tab]")) {
      const { width, height } = element.getBoundingClientRect();
      const label = element.closest("label")?.getBoundingClientRect();
      const isShown = width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      const isInSentence = element.matches("p a, li a, dd a") && getComputedStyle(element).display === "inline";
      const isLarge = Math.max(width, label?.width ?? 0) >= least && Math.max(height, label?.height ?? 0) >= least;
      if (isShown && !isInSentence && !isLarge) {
        found.push(`${element.tagName} ${element.getAttribute("aria-label") ?? element.textContent.trim().slice(0, 40)} ${Math.round(width)}x${Math.round(height)}`);
      }
    }
    return found;
  }, pixels);
}
