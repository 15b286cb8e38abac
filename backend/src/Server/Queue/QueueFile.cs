using Sluice.Server.Database;

namespace Sluice.Server.Queue;

/// <summary>An uploaded file below <c>/nzbs</c>. It has one item, or one per zip member, and is deleted with its last item.</summary>
internal sealed record QueueFile
{
    /// <summary>Row number, which is never reused.</summary>
    public long Id { get; init; }

    public required string Folder { get; init; }

    /// <summary>File name in NFC. Must not be logged, because it may contain a password.</summary>
    public required string Name { get; init; }

    /// <summary>SHA-256 of the uploaded bytes, in hex.</summary>
    public required string Hash { get; init; }

    public required long Length { get; init; }

    /// <summary>Whether a separate blob holds the uploaded bytes. A plain NZB shares the blob of its item.</summary>
    public bool Packed { get; init; }

    /// <summary>When these bytes were accepted.</summary>
    public DateTimeOffset AddedAt { get; init; }

    public long AddedMilliseconds
    {
        get => AddedAt.ToUnixTimeMilliseconds();
        init => AddedAt = StoredTime.Read(value);
    }

    /// <summary>Opaque WebDAV properties stored by clients; empty if there are none.</summary>
    public string Properties { get; init; } = "";

    public static string NameOf(string item) => item + Extension;

    /// <summary>Whether a file is named after an item, possibly with a number appended.</summary>
    public static bool IsNamedAfter(string file, string item) =>
        file.EndsWith(Extension, StringComparison.Ordinal) && ReleaseName.IsNumbered(file[..^Extension.Length], item);

    private const string Extension = ".nzb";
}
