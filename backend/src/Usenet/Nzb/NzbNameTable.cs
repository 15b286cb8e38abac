using System.Xml;

namespace Sluice.Usenet.Nzb;

/// <summary>The names that the XML reader keeps for good, with a ceiling: a document of invented names must not fill the memory.</summary>
internal sealed class NzbNameTable(int limit) : NameTable
{
    private int _count;

    public override string Add(string key)
    {
        return Get(key) ?? Added(base.Add(key));
    }

    public override string Add(char[] key, int start, int len)
    {
        return Get(key, start, len) ?? Added(base.Add(key, start, len));
    }

    private string Added(string name) =>
        ++_count <= limit ? name : throw new NzbFormatException(NzbFault.TooLarge, $"more than {limit} different names");
}
