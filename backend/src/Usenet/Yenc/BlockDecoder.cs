using System.Buffers;

namespace Sluice.Usenet.Yenc;

/// <summary>The end that a block decoder has reached.</summary>
internal enum BlockEnd
{
    /// <summary>No end: the block continues.</summary>
    None,

    /// <summary>The end of the block; the article continues.</summary>
    Block,

    /// <summary>The end of the article: its terminating line has arrived.</summary>
    Article,
}

/// <summary>Decodes blocks in one encoding, from their first line to their last. Only the first block of an article counts.</summary>
/// <remarks>The encodings share the line reader and the name buffer, because only one of them begins a block.</remarks>
internal abstract class BlockDecoder(ArticleEncoding encoding, ArticleLineReader lines, byte[] nameBuffer)
{
    public bool HasHeader { get; protected set; }

    /// <summary>Values claimed by the lines before the data; the name is valid until <see cref="Reset"/>.</summary>
    public ArticleHeader Header { get; protected set; }

    public long Decoded { get; private set; }

    /// <summary>Values claimed by the lines after the data; null until they arrive.</summary>
    protected ArticleTrailer? Trailer { get; set; }

    protected ArticleDefects Defects { get; set; }

    /// <summary>CRC-32 of the bytes written so far.</summary>
    protected uint Checksum { get; private set; }

    protected ArticleLineReader Lines { get; } = lines;

    public virtual void Reset()
    {
        HasHeader = false;
        Header = default;
        Decoded = 0;
        Trailer = null;
        Defects = ArticleDefects.None;
        Checksum = 0;
    }

    /// <summary>Offers the current preamble line; true if the line begins a block.</summary>
    public abstract bool TryBegin();

    /// <summary>Decodes the next bytes of the block, perhaps not all of them, and returns the number of bytes consumed.</summary>
    public abstract int Read(ReadOnlySpan<byte> raw, IBufferWriter<byte> output, out BlockEnd end);

    public abstract void TakeLineAfterBlock();

    /// <summary>Returns the facts about the article, with all defects except a missing terminating line.</summary>
    public virtual DecodedArticle Describe() => new()
    {
        Encoding = encoding,
        Header = Header,
        Trailer = Trailer,
        DecodedLength = Decoded,
        ComputedCrc = Checksum,
        Defects = Defects,
    };

    /// <summary>Copies the file name, because the next line overwrites it.</summary>
    protected ReadOnlyMemory<byte> Keep(ReadOnlySpan<byte> name)
    {
        name.CopyTo(nameBuffer);
        return nameBuffer.AsMemory(0, name.Length);
    }

    /// <summary>Requests memory for at most <paramref name="most"/> decoded bytes. Empty, with a defect, if the article has reached its size limit.</summary>
    protected Span<byte> Room(IBufferWriter<byte> output, int most)
    {
        var room = (int)Math.Min(most, ArticleDecoder.MaxDecodedLength - Decoded);
        if (room == 0)
        {
            Defects |= ArticleDefects.TooLong;
            return [];
        }

        var memory = output.GetSpan(1);
        if (memory.IsEmpty)
            throw new InvalidOperationException("The buffer writer handed out no memory.");
        return memory.Length > room ? memory[..room] : memory;
    }

    protected void Commit(ReadOnlySpan<byte> decoded, IBufferWriter<byte> output)
    {
        Checksum = Crc32Kernel.Append(Checksum, decoded);
        Decoded += decoded.Length;
        output.Advance(decoded.Length);
    }
}
