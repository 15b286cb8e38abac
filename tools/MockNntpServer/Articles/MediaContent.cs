namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>The bytes of a real file, served instead of synthetic ones. Immutable and thread-safe.</summary>
public abstract class MediaContent
{
    private MediaContent(string name, long length)
    {
        Name = name;
        Length = length;
    }

    /// <summary>File name as a poster would write it, without folder.</summary>
    public string Name { get; }

    /// <summary>Bytes of the file.</summary>
    public long Length { get; }

    /// <summary>Serves a file of the disk, which must not change while it is served.</summary>
    public static MediaContent FromFile(string path) => new DiskContent(path);

    /// <summary>Serves bytes from memory, which must not change while they are served.</summary>
    public static MediaContent FromBytes(string name, ReadOnlyMemory<byte> bytes) => new MemoryContent(name, bytes);

    /// <summary>Writes the bytes of a range.</summary>
    /// <exception cref="EndOfStreamException">The range ends behind the file.</exception>
    public abstract void Fill(long offset, Span<byte> destination);

    private sealed class MemoryContent(string name, ReadOnlyMemory<byte> bytes) : MediaContent(name, bytes.Length)
    {
        public override void Fill(long offset, Span<byte> destination)
        {
            if (offset > Length - destination.Length)
                throw new EndOfStreamException($"{Name} ends at {Length}.");
            bytes.Span.Slice((int)offset, destination.Length).CopyTo(destination);
        }
    }

    private sealed class DiskContent(string path) : MediaContent(Path.GetFileName(path), new FileInfo(path).Length)
    {
        public override void Fill(long offset, Span<byte> destination)
        {
            using var handle = File.OpenHandle(path);
            while (!destination.IsEmpty)
            {
                var read = RandomAccess.Read(handle, destination, offset);
                if (read == 0)
                    throw new EndOfStreamException($"{Name} ends at {offset}.");
                destination = destination[read..];
                offset += read;
            }
        }
    }
}
