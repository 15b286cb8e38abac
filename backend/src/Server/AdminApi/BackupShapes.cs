using Sluice.Server.Backups;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.AdminApi;

/// <summary>
/// A verified backup. <c>StillTrueAt</c> is when the database was last found unchanged since the backup. <c>Bytes</c> is the size of the database,
/// <c>NzbBytes</c> that of the NZBs that it references.
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
/// The second folder. <c>NewestAt</c> is the time of its newest backup; null if it has none. <c>Failure</c> says, as a sentence, why the last attempt failed.
/// <c>Warning</c> says why the copies protect less than they could; null if nothing is wrong.
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
/// All backups, newest first. <c>Failure</c> says, as a sentence, why the last attempt failed; null if it succeeded. <c>NextAt</c> is null if none is
/// scheduled. <c>Second</c> is null if there is no second folder.
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
/// The cost of a restore, as a sentence and in numbers: seconds since the backup, NZBs added after it, settings that change, browsers that must log in again,
/// playable files, and keys of settings that stay locked. <c>NeedsPassphrase</c> is true if the backup's passphrase would unlock them. A number is null if the
/// current database cannot be read.
/// </summary>
internal sealed record RestoreReport(
    string Id, string Sentence, long AgeSeconds, int Later, int? Settings, int? Logins, long Files, IReadOnlyList<string> Locked, bool NeedsPassphrase)
{
    public static RestoreReport Of(RestoreCost cost) => new(
        cost.Backup.Id, cost.Sentence, (long)cost.Age.TotalSeconds, cost.Later, cost.Settings, cost.Logins, cost.Files, cost.Locked, cost.NeedsPassphrase);
}

/// <summary>
/// Restores a backup. <c>Requeue</c> returns the NZBs added after it to the queue. Requires the administrator's password, like creating a key, because the
/// backup may restore an earlier password. <c>Passphrase</c> restores the key file too.
/// </summary>
internal sealed record RestoreRequest(bool Requeue = false, string? Password = null, string? Passphrase = null) : IJsonBody<RestoreRequest>;

/// <summary>An NZB added after the restored backup. <c>Name</c> starts with NZB if its name was not recorded.</summary>
internal sealed record LaterRow(string Id, string Name, string Category, DateTimeOffset At, long Bytes)
{
    public static LaterRow Of(LaterNzb nzb) => new(nzb.Hash, nzb.Name, nzb.Category, nzb.At, nzb.Bytes);
}

/// <summary>The newest of these NZBs, and their total number.</summary>
internal sealed record LaterList(IReadOnlyList<LaterRow> Items, int Total);

/// <summary>Returns these NZBs to the queue; null for all.</summary>
internal sealed record LaterRequeue(IReadOnlyList<string>? Ids = null) : IJsonBody<LaterRequeue>;

/// <summary>The whole list, in both kinds of frames.</summary>
internal sealed record BackupsFrame(FrameKind Kind, long Seq, BackupList Backups);
