import { Dialog } from "@/components/ui/dialog";
import { SwitchField } from "@/components/ui/switch-field";
import { usePreference } from "@/lib/preference";
import { activeShortcuts, letterKeys } from "@/lib/shortcuts";
import { t } from "../en";

/** The shortcuts of this page, and the switch for single letters. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const [letters, setLetters] = usePreference(letterKeys);
  const shortcuts = activeShortcuts();
  return (
    <Dialog isOpen onClose={onClose} title={t("shortcuts")} size="sm">
      <dl className="grid gap-2">
        {shortcuts.map(({ keys, label }) => (
          <div key={keys} className="flex items-center justify-between gap-4">
            <dt>{label}</dt>
            <dd className="flex gap-1">
              {keys.split(" ").map((key) => (
                <kbd key={key} className="rounded-sm border border-line bg-sunken px-1.5 font-mono text-xs leading-5">
                  {nameOf(key)}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <SwitchField
        className="mt-5 border-t border-line pt-4"
        label={t("letter-keys")}
        help={t("letter-keys-help")}
        isOn={letters === "on"}
        onChange={(isOn) => setLetters(isOn ? "on" : "off")}
      />
    </Dialog>
  );
}

function nameOf(keys: string): string {
  const mod = /mac|iphone|ipad/i.test(navigator.userAgent) ? "⌘" : "Ctrl";
  return keys.replace("mod", mod).replaceAll("+", " + ").replace(/\b[a-z]$/, (letter) => letter.toUpperCase());
}
