using Sluice.Tools.MockNntpServer.Layouts;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>The bytes of a posted file that are not synthetic alone: those of a real file, or of an archive that is laid out. Immutable and thread-safe.</summary>
public sealed class MediaContent
{
    private MediaContent(string name, MockBytes bytes)
    {
        Name = name;
        Bytes = bytes;
    }

    /// <summary>File name as a poster would write it, without folder.</summary>
    public string Name { get; }

    /// <summary>The bytes.</summary>
    public MockBytes Bytes { get; }

    /// <summary>Bytes of the file.</summary>
    public long Length => Bytes.Length;

    /// <summary>Serves a file of the disk, which must not change while it is served.</summary>
    public static MediaContent FromFile(string path) => new(Path.GetFileName(path), new DiskBytes(path));

    /// <summary>Serves bytes from memory, which must not change while they are served.</summary>
    public static MediaContent FromBytes(string name, ReadOnlyMemory<byte> bytes) => new(name, MockBytes.Of(bytes));

    /// <summary>Serves bytes that are computed.</summary>
    public static MediaContent Of(string name, MockBytes bytes) => new(name, bytes);

    /// <summary>Writes the bytes of a range.</summary>
    /// <exception cref="EndOfStreamException">The range ends behind the file.</exception>
    public void Fill(long offset, Span<byte> destination) => Bytes.Fill(offset, destination);

    private sealed class DiskBytes(string path) : MockBytes(new FileInfo(path).Length)
    {
        protected override void Compute(long offset, Span<byte> destination)
        {
            using var handle = File.OpenHandle(path);
            while (!destination.IsEmpty)
            {
                var read = RandomAccess.Read(handle, destination, offset);
                if (read == 0)
                    throw new EndOfStreamException($"{path} ends at {offset}.");
                destination = destination[read..];
                offset += read;
            }
        }
    }
}
