using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Sluice.Usenet.Nzb;

/// <summary>The unique name of an article, without angle brackets (RFC 3977 section 3.6, RFC 5536 section 3.1.3). The only type for message-ids.</summary>
/// <remarks>
/// 1 to 250 bytes without whitespace, control characters, <c>&lt;</c> and <c>&gt;</c>, so that an id is safe in a command line. Bytes above 0x7F are kept,
/// because real posts contain them. <c>default</c> marks a segment that was never posted. Immutable and thread-safe.
/// </remarks>
public readonly struct MessageId : IEquatable<MessageId>
{
    /// <summary>Maximum length in bytes without brackets. RFC 3977 allows 250 including brackets, but real servers allow 250 without.</summary>
    public const int MaxLength = 250;

    private readonly byte[]? _bytes;

    private MessageId(byte[] bytes) => _bytes = bytes;

    /// <summary>Whether this is <c>default</c>.</summary>
    public bool IsEmpty => _bytes is null;

    /// <summary>The id without brackets; empty for <c>default</c>.</summary>
    public ReadOnlySpan<byte> Bytes => _bytes;

    /// <summary>Parses an id, with or without one pair of angle brackets and outer spaces.</summary>
    /// <returns>False if the id is empty, too long, or contains a forbidden byte.</returns>
    public static bool TryParse(ReadOnlySpan<byte> text, out MessageId id)
    {
        id = TryFind(text, out var bytes) ? new MessageId(bytes.ToArray()) : default;
        return !id.IsEmpty;
    }

    /// <summary>Parses an id from text, with characters above 0x7F as UTF-8 bytes, by the same rules.</summary>
    public static bool TryParse([NotNullWhen(true)] string? text, out MessageId id)
    {
        if (text is null || text.Length > 4 * MaxLength)
        {
            id = default;
            return false;
        }

        return TryParse(Encoding.UTF8.GetBytes(text), out id);
    }

    /// <summary>Locates the bytes of an id by the same rules, for callers that store millions of ids as bytes.</summary>
    internal static bool TryFind(ReadOnlySpan<byte> text, out ReadOnlySpan<byte> id)
    {
        id = text.Trim(" \t\r\n"u8);
        if (id.Length >= 2 && id[0] == '<' && id[^1] == '>')
            id = id[1..^1];
        return id.Length is > 0 and <= MaxLength && !id.ContainsAnyInRange((byte)0, (byte)' ') && !id.ContainsAny((byte)'<', (byte)'>', (byte)0x7F);
    }

    /// <exception cref="FormatException">The text is not a message-id.</exception>
    public static MessageId Parse(string text) =>
        TryParse(text, out var id) ? id : throw new FormatException("Not a message-id.");

    public bool Equals(MessageId other) => Bytes.SequenceEqual(other.Bytes);

    public override bool Equals([NotNullWhen(true)] object? obj) => obj is MessageId other && Equals(other);

    public override int GetHashCode()
    {
        var hash = default(HashCode);
        hash.AddBytes(Bytes);
        return hash.ToHashCode();
    }

    /// <summary>The id without brackets, for logs at Debug level and for NZB files.</summary>
    public override string ToString() => Encoding.UTF8.GetString(Bytes);

    public static bool operator ==(MessageId left, MessageId right) => left.Equals(right);

    public static bool operator !=(MessageId left, MessageId right) => !left.Equals(right);
}
