import type { Schema } from "@/lib/api-client";

export type ArrProgram = Schema<"ArrProgram">;

/** The supported programs, with their names and default ports. */
export const programs: Record<ArrProgram, { name: string; port: number }> = {
  sonarr: { name: "Sonarr", port: 8989 },
  radarr: { name: "Radarr", port: 7878 },
  lidarr: { name: "Lidarr", port: 8686 },
  readarr: { name: "Readarr", port: 8787 },
  whisparr: { name: "Whisparr", port: 6969 },
};

/** Returns the usual address of a program in the same compose file. */
export function usualAddress(kind: ArrProgram): string {
  return `http://${kind}:${programs[kind].port}`;
}
