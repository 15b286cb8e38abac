using Sluice.Server.Backups;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.AdminApi;

/// <summary>
/// A verified backup. <c>StillTrueAt</c> is the last time that the database was found unchanged. <c>Bytes</c> is the size of the database, <c>NzbBytes</c> of
/// the NZBs that it references.
/// </summary>
internal sealed record BackupRow(
    string Id, BackupKind Kind, BackupPlace Place, DateTimeOffset At, DateTimeOffset StillTrueAt, string ProgramVersion, int Schema, long Bytes, long Nzbs, long NzbBytes,
    long Files)
{
    public static BackupRow Of(Backup backup, BackupPlace place)
    {
        var manifest = backup.Manifest;
        return new(
            manifest.Id, manifest.Kind, place, manifest.At, manifest.StillTrueAt, manifest.ProgramVersion, manifest.Schema, manifest.Bytes, manifest.Blobs,
            manifest.BlobBytes, manifest.Rows.GetValueOrDefault("library_file"));
    }
}

/// <summary>
/// The second folder. <c>NewestAt</c> is the time of its newest backup; null if it has none. <c>Failure</c> says why the last attempt failed, as a sentence,
/// and <c>Warning</c> why the copies protect less than they could; null if nothing is wrong.
/// </summary>
internal sealed record SecondFolderRow(string Path, int Count, DateTimeOffset? NewestAt, bool IsCopying, string? Failure, DateTimeOffset? FailedAt, string? Warning)
{
    public static SecondFolderRow? Of(SecondFolderState state) => state.Path.Length == 0 ? null : new(
        state.Path,
        state.All.Count,
        state.All is [var newest, ..] ? newest.Manifest.At : null,
        state.IsCopying,
        state.Failure is { } failure ? $"The backups could not be copied to the second folder: {failure}." : null,
        state.FailedAt,
        state.Warning);
}

/// <summary>
/// All backups, the newest first. <c>Failure</c> says why the last attempt failed, as a sentence; null if it succeeded. <c>NextAt</c> is null if none
/// is scheduled. <c>Second</c> is null without a second folder.
/// </summary>
internal sealed record BackupList(
    IReadOnlyList<BackupRow> Items, bool IsMaking, string? Failure, DateTimeOffset? FailedAt, DateTimeOffset? NextAt, SecondFolderRow? Second)
{
    public static BackupList Of(BackupState state, SecondFolderState second) => new(
        [.. BackupPlaces.Merge(state.All, second.All).Select(static found => BackupRow.Of(found.Backup, found.Place))],
        state.IsMaking,
        state.Failure is { } failure ? $"The last backup failed: {failure}." : null,
        state.FailedAt,
        state.NextAt,
        SecondFolderRow.Of(second));
}

/// <summary>
/// The cost of a restore, in sentences and in figures: seconds since the backup, NZBs that came after it, settings that change, browsers whose login
/// the backup lacks, files that play, and keys of settings that stay locked. <c>NeedsPassphrase</c> is true if the passphrase of the backup would unlock
/// them. A figure is null if the present database cannot be read.
/// </summary>
internal sealed record RestoreReport(
    string Id, string Sentence, long AgeSeconds, int Later, int? Settings, int? Logins, long Files, IReadOnlyList<string> Locked, bool NeedsPassphrase)
{
    public static RestoreReport Of(RestoreCost cost) => new(
        cost.Backup.Id, cost.Sentence, (long)cost.Age.TotalSeconds, cost.Later, cost.Settings, cost.Logins, cost.Files, cost.Locked, cost.NeedsPassphrase);
}

/// <summary>
/// Restores a backup. <c>Requeue</c> returns the NZBs that came after it to the queue. Needs the administrator's password, as a new key does, because
/// the backup may restore an earlier one. <c>Passphrase</c> restores the key file too.
/// </summary>
internal sealed record RestoreRequest(bool Requeue = false, string? Password = null, string? Passphrase = null) : IJsonBody<RestoreRequest>;

/// <summary>An NZB that came after the restored backup; <c>Name</c> begins with NZB if it was not recorded.</summary>
internal sealed record LaterRow(string Id, string Name, string Category, DateTimeOffset At, long Bytes)
{
    public static LaterRow Of(LaterNzb nzb) => new(nzb.Hash, nzb.Name, nzb.Category, nzb.At, nzb.Bytes);
}

/// <summary>The newest later NZBs, and how many there are.</summary>
internal sealed record LaterList(IReadOnlyList<LaterRow> Items, int Total);

/// <summary>Returns these NZBs to the queue; null for all.</summary>
internal sealed record LaterRequeue(IReadOnlyList<string>? Ids = null) : IJsonBody<LaterRequeue>;

/// <summary>The whole list, in both kinds of frame.</summary>
internal sealed record BackupsFrame(FrameKind Kind, long Seq, BackupList Backups);
