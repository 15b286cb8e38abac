using System.Text.Json;
using System.Text.Json.Serialization;
using Sluice.Server.Database;

namespace Sluice.Server.Backups;

/// <summary>An accepted NZB.</summary>
/// <param name="Hash">Hash of its blob.</param>
/// <param name="Name">Name of its item.</param>
/// <param name="Category">Category of its item.</param>
/// <param name="At">When it was accepted.</param>
internal sealed record AcceptedNzb(string Hash, string Name, string Category, DateTimeOffset At);

/// <summary>
/// Names of accepted NZBs in <c>accepted.jsonl</c>, one JSON object per line, so that NZBs added after a backup get their names back (OPS-12). The names only
/// help people: lines are not flushed to disk, and a missing line loses a name but not an NZB.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class AcceptedLog(DataFolder folder, ILogger<AcceptedLog> logger)
{
    // A month of imports takes a few MiB. Above this limit, the oldest half is dropped.
    private const long MaxBytes = 32 << 20;

    private static readonly byte[] LineEnd = "\n"u8.ToArray();

    // Serializes all changes to the file. No other lock is acquired while holding it.
    private readonly Lock _gate = new();

    private string Path => folder.Accepted;

    /// <summary>Appends lines. Disk errors are only logged, because the NZBs themselves are safe.</summary>
    public void Append(IReadOnlyCollection<AcceptedNzb> accepted)
    {
        if (accepted.Count == 0)
            return;
        byte[] lines = [.. accepted.SelectMany(nzb => (byte[])[.. JsonSerializer.SerializeToUtf8Bytes(nzb, AcceptedJson.Default.AcceptedNzb), .. LineEnd])];
        try
        {
            lock (_gate)
            {
                using var file = new FileStream(Path, FileMode.Append, FileAccess.Write, FileShare.Read, bufferSize: 0);
                file.Write(lines);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            BackupsLog.NameNotNoted(logger, e.Message);
        }
    }

    /// <summary>Reads all lines. If a hash occurs several times, the last line counts. Skips lines damaged by a power cut.</summary>
    /// <exception cref="IOException">The file cannot be read.</exception>
    public Dictionary<string, AcceptedNzb> Read()
    {
        var names = new Dictionary<string, AcceptedNzb>();
        lock (_gate)
        {
            if (!File.Exists(Path))
                return names;
            foreach (var line in File.ReadLines(Path))
            {
                if (Parse(line) is { } nzb)
                    names[nzb.Hash] = nzb;
            }
        }

        return names;
    }

    /// <summary>Drops lines older than every remaining backup, because no restore needs them.</summary>
    /// <param name="oldest">Time of the oldest backup.</param>
    /// <exception cref="IOException">The file cannot be rewritten.</exception>
    public void Cut(DateTimeOffset oldest)
    {
        lock (_gate)
        {
            if (new FileInfo(Path) is not { Exists: true } file)
                return;
            var skipped = file.Length > MaxBytes ? file.Length / 2 : 0;
            var content = new MemoryStream();
            var isCut = false;
            foreach (var line in File.ReadLines(Path))
            {
                skipped -= line.Length;
                if (skipped > 0 || Parse(line) is not { } nzb || nzb.At < oldest)
                {
                    isCut = true;
                    continue;
                }

                content.Write(System.Text.Encoding.UTF8.GetBytes(line));
                content.Write(LineEnd);
            }

            if (isCut)
                PrivateFile.Replace(Path, content.ToArray());
        }
    }

    private static AcceptedNzb? Parse(string line)
    {
        try
        {
            return JsonSerializer.Deserialize(line, AcceptedJson.Default.AcceptedNzb) is { Hash.Length: > 0 } nzb ? nzb : null;
        }
        catch (JsonException)
        {
            return null;
        }
    }
}

/// <summary>Build-time JSON serializer of a line.</summary>
[JsonSourceGenerationOptions(JsonSerializerDefaults.Web, RespectRequiredConstructorParameters = true, RespectNullableAnnotations = true)]
[JsonSerializable(typeof(AcceptedNzb))]
internal sealed partial class AcceptedJson : JsonSerializerContext;
