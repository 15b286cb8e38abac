using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Playbacks;

/// <summary>What one playback cost, or what all scans of a client in one hour cost (OPS-43).</summary>
internal sealed record Receipt
{
    /// <summary>The id of the playback. Scans of a client in one hour share an id.</summary>
    public required string Id { get; init; }

    public bool IsScan { get; init; }

    /// <summary>Wall-clock time of the first request; the beginning of the hour for a scan.</summary>
    public required DateTimeOffset StartedAt { get; init; }

    /// <summary>Wall-clock time of the last read.</summary>
    public required DateTimeOffset EndedAt { get; init; }

    /// <summary>The library file, which may be deleted by now; null for a scan.</summary>
    public Guid? File { get; init; }

    /// <summary>The path of the file below <c>/content</c> at that time; empty for a scan.</summary>
    public string Path { get; init; } = "";

    /// <summary>The name that the client logged in with; empty if unknown.</summary>
    public required string Login { get; init; }

    /// <summary>The address of the client.</summary>
    public required string Client { get; init; }

    public required string Player { get; init; }

    public int Files { get; init; } = 1;

    public long Sent { get; init; }

    public required AccountBytes Bytes { get; init; }

    /// <summary>Reads after the first byte that took noticeably long.</summary>
    public ReceiptWaits Waits { get; init; }

    /// <summary>Requests that ended because articles are missing at every provider.</summary>
    public int Gaps { get; init; }

    public int Seeks { get; init; }

    public double? FirstByteMs { get; init; }

    /// <summary>Returns the part of an hourly receipt that a reading without a viewer adds.</summary>
    public Receipt ToScan()
    {
        var hour = new DateTimeOffset(StartedAt.UtcDateTime.Date.AddHours(StartedAt.UtcDateTime.Hour), TimeSpan.Zero);
        var who = SHA256.HashData(Encoding.UTF8.GetBytes(string.Join('\n', Login, Client, Player)));
        return this with
        {
            Id = string.Create(CultureInfo.InvariantCulture, $"{hour:yyyyMMddHH}-{Convert.ToHexStringLower(who.AsSpan(0, 6))}"),
            IsScan = true,
            StartedAt = hour,
            File = null,
            Path = "",
            FirstByteMs = null,
        };
    }

    /// <summary>Adds another part of the same hourly receipt.</summary>
    public Receipt With(Receipt other) => this with
    {
        EndedAt = other.EndedAt > EndedAt ? other.EndedAt : EndedAt,
        Files = Files + other.Files,
        Sent = Sent + other.Sent,
        Bytes = Bytes + other.Bytes,
        Waits = Waits.With(other.Waits),
        Gaps = Gaps + other.Gaps,
        Seeks = Seeks + other.Seeks,
    };

    /// <summary>Whether nothing has moved since an earlier state of the same receipt. The time of the last read is converted anew each time, so it may differ.</summary>
    public bool IsAs(Receipt earlier) => Bytes.IsAs(earlier.Bytes) && this == earlier with { Bytes = Bytes, EndedAt = EndedAt };
}

/// <summary>Waits of a client for bytes in the middle of its requests. Times are in milliseconds.</summary>
internal readonly record struct ReceiptWaits(int Count, long TotalMs, long LongestMs)
{
    public ReceiptWaits With(ReceiptWaits other) => new(Count + other.Count, TotalMs + other.TotalMs, Math.Max(LongestMs, other.LongestMs));
}
