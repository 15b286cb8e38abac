import { useSyncExternalStore } from "react";
import { tellUploads } from "./first-touch";
import { queryClient } from "./query-client";

/** An import whose toast says how it ends. */
export interface FollowedJob {
  id: string;
  name: string;
  toastId: string;
}

const listeners = new Set<() => void>();
let followed: readonly FollowedJob[] = [];

/** Follows an import that is tried again. The answer is the id of its toast. */
export function followJob(id: string, name: string): string {
  const toastId = `job ${id}`;
  // How the try before ended is known, and must not be taken for the end of this one.
  queryClient.removeQueries({ queryKey: ["job", "history", id] });
  show([...followed.filter((job) => job.id !== id), { id, name, toastId }]);
  // Loads what follows it.
  tellUploads();
  return toastId;
}

/** Stops following an import. */
export function unfollowJob(id: string): void {
  show(followed.filter((job) => job.id !== id));
}

function show(next: readonly FollowedJob[]): void {
  followed = next;
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The imports that are followed. */
export function useFollowedJobs(): readonly FollowedJob[] {
  return useSyncExternalStore(subscribe, () => followed);
}
