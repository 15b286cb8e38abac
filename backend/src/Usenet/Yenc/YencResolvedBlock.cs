namespace Sluice.Usenet.Yenc;

/// <summary>What the bytes of one block are, bit i for byte i.</summary>
internal readonly struct YencResolvedBlock
{
    /// <summary>Bytes that are data.</summary>
    public ulong Keep { get; init; }

    /// <summary>Each <c>=</c> that escapes the byte after it.</summary>
    public ulong Escaping { get; init; }

    /// <summary>Bytes after one of those.</summary>
    public ulong Escaped { get; init; }

    /// <summary>Each LF that ends a line.</summary>
    public ulong LineEnd { get; init; }

    /// <summary>Each CR, escaped or not.</summary>
    public ulong Cr { get; init; }

    /// <summary>
    /// The state after the first bytes of the block. A dot or an <c>=</c> that began a line is plain by then: the bytes
    /// behind it were looked at.
    /// </summary>
    /// <param name="count">How many, at least one.</param>
    public YencState StateAfter(int count)
    {
        var last = 1ul << (count - 1);
        return new YencState
        {
            Escape = (Escaping & last) != 0,
            Context = (LineEnd & last) != 0 ? YencContext.LineStart
                : (Cr & last) != 0 ? YencContext.Cr
                : YencContext.Inside,
        };
    }
}
