using System.Buffers;
using System.Text;

namespace Sluice.Server.Tests.WebDav;

/// <summary>A response as received over the wire.</summary>
internal sealed class RawAnswer(int status)
{
    private readonly ArrayBufferWriter<byte> _body = new();

    public int Status => status;

    public List<(string Name, string Value)> Headers { get; } = [];

    public byte[] Body => _body.WrittenSpan.ToArray();

    public int Length => _body.WrittenCount;

    public string Text => Encoding.UTF8.GetString(Body);

    public bool IsComplete { get; set; }

    public bool WasReset { get; set; }

    public bool EndedCleanly { get; set; }

    /// <summary>The value of a header, or null; repeated headers are joined as in RFC 9110.</summary>
    public string? this[string name]
    {
        get
        {
            string[] values = [.. Headers.Where(header => header.Name.Equals(name, StringComparison.OrdinalIgnoreCase)).Select(header => header.Value)];
            return values.Length == 0 ? null : string.Join(", ", values);
        }
    }

    public void Add(ReadOnlySpan<byte> bytes) => _body.Write(bytes);
}
