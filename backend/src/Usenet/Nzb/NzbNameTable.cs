using System.Xml;

namespace Sluice.Usenet.Nzb;

/// <summary>The names that the XML reader keeps for good, with a ceiling: a document of invented names must not fill the memory.</summary>
internal sealed class NzbNameTable(NzbLimits limits) : NameTable
{
    private int _count;

    public override string Add(string key)
    {
        if (Get(key) is { } known)
            return known;
        Count(key.Length);
        return base.Add(key);
    }

    public override string Add(char[] key, int start, int len)
    {
        if (Get(key, start, len) is { } known)
            return known;
        Count(len);
        return base.Add(key, start, len);
    }

    private void Count(int length)
    {
        if (length > limits.MaxNameLength)
            throw new NzbFormatException(NzbFault.TooLarge, $"a name of more than {limits.MaxNameLength} characters");
        if (++_count > limits.MaxNames)
            throw new NzbFormatException(NzbFault.TooLarge, $"more than {limits.MaxNames} different names");
    }
}
