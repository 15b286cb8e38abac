using Sluice.Server.Database;

namespace Sluice.Server.Queue;

/// <summary>A file below <c>/nzbs</c> as it was PUT, with its items: one, or the members of a zip. It leaves with the last of them.</summary>
internal sealed record QueueFile
{
    /// <summary>Its row; never given to another file.</summary>
    public long Id { get; init; }

    /// <summary>Its folder below <c>/nzbs</c>.</summary>
    public required string Folder { get; init; }

    /// <summary>Its name as it was PUT, NFC. May hold a password: never logged.</summary>
    public required string Name { get; init; }

    /// <summary>SHA-256 of its bytes, in hex.</summary>
    public required string Hash { get; init; }

    /// <summary>How many bytes there are.</summary>
    public required long Length { get; init; }

    /// <summary>Whether its bytes are kept as they came; those of a plain NZB are those of its item.</summary>
    public bool Packed { get; init; }

    /// <summary>When these bytes were accepted.</summary>
    public DateTimeOffset AddedAt { get; init; }

    /// <summary><see cref="AddedAt"/> as its row has it, in Unix milliseconds.</summary>
    public long AddedMilliseconds
    {
        get => AddedAt.ToUnixTimeMilliseconds();
        init => AddedAt = StoredTime.Read(value);
    }

    /// <summary>Properties that clients have stored about it, opaque here; empty for none.</summary>
    public string Properties { get; init; } = "";

    /// <summary>The file by which an NZB lists that came under no name of its own.</summary>
    public static QueueFile Of(QueueItem item) => new()
    {
        Folder = item.Folder,
        Name = NameOf(item.Name),
        Hash = item.NzbHash,
        Length = item.NzbLength,
        AddedAt = item.AddedAt,
    };

    /// <summary>The name under which the NZB of a release lists that came under no name of its own.</summary>
    public static string NameOf(string release) => release + ".nzb";
}
