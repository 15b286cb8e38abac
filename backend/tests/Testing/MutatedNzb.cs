using System.Text;

namespace Sluice.Testing;

/// <summary>Malformed NZBs, made by mutation.</summary>
public static class MutatedNzb
{
    private static readonly string[] Pieces =
    [
        "<", ">", "/", "\"", "&", "&amp;", "&#0;", "&#xD800;", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>", "<!DOCTYPE nzb [", "]>",
        "<file>", "</file>", "<segment>", "</segment>", "<segments>", "</segments>", "</nzb>", "<nzb>", " number=\"-1\"", " number=\"2999999\"",
        " xmlns:q=\"q\"", "q:", "\0", "\uFFFE", "\u00FF", "99999999999999999999", " subject=\"\"", "encoding=\"utf-16\"",
    ];

    /// <summary>Changes, removes or repeats bytes, or inserts pieces of XML, at one to three positions.</summary>
    public static byte[] Of(byte[] original, Random random)
    {
        var bytes = original.ToList();
        for (var changes = random.Next(1, 4); changes > 0 && bytes.Count > 0; changes--)
        {
            var place = random.Next(bytes.Count);
            var length = Math.Min(random.Next(1, 40), bytes.Count - place);
            switch (random.Next(5))
            {
                case 0:
                    bytes[place] = (byte)random.Next(256);
                    break;
                case 1:
                    bytes.RemoveRange(place, length);
                    break;
                case 2:
                    bytes.InsertRange(place, Encoding.UTF8.GetBytes(Pieces[random.Next(Pieces.Length)]));
                    break;
                case 3:
                    bytes.InsertRange(random.Next(bytes.Count), bytes.GetRange(place, length));
                    break;
                default:
                    (bytes[place], bytes[^(place + 1)]) = (bytes[^(place + 1)], bytes[place]);
                    break;
            }
        }

        return [.. bytes];
    }
}
