import { Component, type ComponentType, type ReactNode, useLayoutEffect, useSyncExternalStore } from "react";
import { LatePart } from "@/lib/late-parts";
import { toast } from "@/lib/toast";
import { t } from "./en";

interface LateOptions<Props> {
  /** Shown until the part is loaded; nothing if unset. */
  pending?: (props: Props) => ReactNode;
  /** Whether the part is loaded ahead of its use; true if unset. */
  isAhead?: boolean;
}

/**
 * A component that is loaded on first use. It catches its own errors, so that neither a restart of the server nor an error in a dialog breaks
 * the page.
 */
export function late<Props extends object>(load: () => Promise<ComponentType<Props>>, { pending, isAhead }: LateOptions<Props> = {}) {
  const part = new LatePart(load, isAhead);
  function Late(props: Props): ReactNode {
    const Part = useSyncExternalStore(part.subscribe, part.peek);
    useLayoutEffect(() => void part.get(), []);
    if (!Part) return pending?.(props);
    return (
      <Boundary>
        <Part {...props} />
      </Boundary>
    );
  }
  return Object.assign(Late, { prefetch: () => void part.prefetch() });
}

class Boundary extends Component<{ children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidCatch(error: Error) {
    toast({ tone: "bad", title: t("part-failed"), body: error.message });
  }

  override render() {
    return this.state.isBroken ? null : this.props.children;
  }
}
