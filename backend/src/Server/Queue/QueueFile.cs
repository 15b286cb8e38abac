using Sluice.Server.Database;

namespace Sluice.Server.Queue;

/// <summary>A file below <c>/nzbs</c> as it was PUT. It has one item, or one per member of a zip, and is deleted with its last item.</summary>
internal sealed record QueueFile
{
    /// <summary>Row id; never reused.</summary>
    public long Id { get; init; }

    public required string Folder { get; init; }

    /// <summary>NFC. Never logged, because it may contain a password.</summary>
    public required string Name { get; init; }

    /// <summary>SHA-256 of the bytes, in hex.</summary>
    public required string Hash { get; init; }

    public required long Length { get; init; }

    /// <summary>Whether the bytes are stored as they came. A plain NZB shares the blob of its item.</summary>
    public bool Packed { get; init; }

    /// <summary>When these bytes were accepted.</summary>
    public DateTimeOffset AddedAt { get; init; }

    public long AddedMilliseconds
    {
        get => AddedAt.ToUnixTimeMilliseconds();
        init => AddedAt = StoredTime.Read(value);
    }

    /// <summary>Properties stored by clients, opaque here; empty for none.</summary>
    public string Properties { get; init; } = "";

    public static string NameOf(string item) => item + Extension;

    /// <summary>Whether a file has the name of an item, with or without a number.</summary>
    public static bool IsNamedAfter(string file, string item) =>
        file.EndsWith(Extension, StringComparison.Ordinal) && ReleaseName.IsNumbered(file[..^Extension.Length], item);

    private const string Extension = ".nzb";
}
