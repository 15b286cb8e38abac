import { useSyncExternalStore } from "react";
import { tellUploads } from "./first-touch";
import { queryClient } from "./query-client";

/** An import whose toast will report its result. */
export interface FollowedJob {
  id: string;
  name: string;
  toastId: string;
}

const listeners = new Set<() => void>();
let followed: readonly FollowedJob[] = [];

/** Follows a retried import and returns the id of its toast. */
export function followJob(id: string, name: string): string {
  const toastId = `job ${id}`;
  // The cached result of the previous try must not pass for the result of this one.
  queryClient.removeQueries({ queryKey: ["job", "history", id] });
  show([...followed.filter((job) => job.id !== id), { id, name, toastId }]);
  // Loads the part that follows imports.
  tellUploads();
  return toastId;
}

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

export function useFollowedJobs(): readonly FollowedJob[] {
  return useSyncExternalStore(subscribe, () => followed);
}
