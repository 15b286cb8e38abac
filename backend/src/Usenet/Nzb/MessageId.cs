using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Sluice.Usenet.Nzb;

/// <summary>
/// The unique name of an article, held as the bytes that stand between the angle brackets (RFC 3977 section 3.6,
/// RFC 5536 section 3.1.3). This is the only type that knows those brackets.
/// </summary>
/// <remarks>
/// 1 to 250 bytes, none of them whitespace, a control character, <c>&lt;</c> or <c>&gt;</c>, so it can be written to a
/// command line as it is. Bytes above 0x7F are kept, because real posts carry them. <c>default</c> is no id at all and
/// marks a segment that was never posted. Immutable and thread-safe.
/// </remarks>
public readonly struct MessageId : IEquatable<MessageId>
{
    /// <summary>Longest id in bytes, brackets excluded: RFC 3977 allows 250 with them, real servers 250 without.</summary>
    public const int MaxLength = 250;

    private readonly byte[]? _bytes;

    private MessageId(byte[] bytes) => _bytes = bytes;

    /// <summary>True for <c>default</c>: there is no article.</summary>
    public bool IsEmpty => _bytes is null;

    /// <summary>The id without brackets; empty for <c>default</c>.</summary>
    public ReadOnlySpan<byte> Bytes => _bytes;

    /// <summary>Reads an id from the wire or a store, with or without one pair of angle brackets and outer spaces.</summary>
    /// <returns>False when it is empty, too long, or holds a byte that no id may hold.</returns>
    public static bool TryParse(ReadOnlySpan<byte> text, out MessageId id)
    {
        id = TryFind(text, out var bytes) ? new MessageId(bytes.ToArray()) : default;
        return !id.IsEmpty;
    }

    /// <summary>Reads an id from text; characters above 0x7F become their UTF-8 bytes.</summary>
    /// <returns>False under the same conditions as for bytes.</returns>
    public static bool TryParse([NotNullWhen(true)] string? text, out MessageId id)
    {
        if (text is null || text.Length > 4 * MaxLength)
        {
            id = default;
            return false;
        }

        return TryParse(Encoding.UTF8.GetBytes(text), out id);
    }

    /// <summary>Finds the bytes of an id under the same conditions, for callers that keep millions of ids as bytes.</summary>
    internal static bool TryFind(ReadOnlySpan<byte> text, out ReadOnlySpan<byte> id)
    {
        id = text.Trim(" \t\r\n"u8);
        if (id.Length >= 2 && id[0] == '<' && id[^1] == '>')
            id = id[1..^1];
        return id.Length is > 0 and <= MaxLength && !id.ContainsAnyInRange((byte)0, (byte)' ') && !id.ContainsAny((byte)'<', (byte)'>', (byte)0x7F);
    }

    /// <summary>As <see cref="TryParse(string, out MessageId)"/>.</summary>
    /// <exception cref="FormatException">The text is no message-id.</exception>
    public static MessageId Parse(string text) =>
        TryParse(text, out var id) ? id : throw new FormatException("Not a message-id.");

    /// <inheritdoc/>
    public bool Equals(MessageId other) => Bytes.SequenceEqual(other.Bytes);

    /// <inheritdoc/>
    public override bool Equals([NotNullWhen(true)] object? obj) => obj is MessageId other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode()
    {
        var hash = default(HashCode);
        hash.AddBytes(Bytes);
        return hash.ToHashCode();
    }

    /// <summary>The id without brackets, for logs at Debug level and for NZB files.</summary>
    public override string ToString() => Encoding.UTF8.GetString(Bytes);

    /// <summary>Compares the bytes.</summary>
    public static bool operator ==(MessageId left, MessageId right) => left.Equals(right);

    /// <summary>Compares the bytes.</summary>
    public static bool operator !=(MessageId left, MessageId right) => !left.Equals(right);
}
