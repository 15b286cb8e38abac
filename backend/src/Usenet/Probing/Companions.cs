namespace Sluice.Usenet.Probing;

/// <summary>Finds files named after an obfuscated film or song, such as <c>0a1b….en.srt</c>, so that they are renamed together (IMP-42).</summary>
internal sealed class Companions
{
    private const int Ambiguous = -1;

    private readonly List<KnownNames> _files;
    private readonly List<ChosenName> _chosen;
    private readonly Dictionary<string, int> _leaders = new(StringComparer.OrdinalIgnoreCase);
    private readonly int _main;

    /// <summary>Collects the obfuscated stems of films and songs. <paramref name="main"/> is the index of the main file, or −1.</summary>
    public Companions(List<KnownNames> files, List<ChosenName> chosen, int main)
    {
        (_files, _chosen, _main) = (files, chosen, main);
        for (var i = 0; i < files.Count; i++)
        {
            if (!IsLeader(i))
                continue;
            foreach (var stem in files[i].All.Where(NameJudge.IsObfuscated).Select(NameJudge.StemOf).Distinct(StringComparer.OrdinalIgnoreCase))
            {
                if (stem != NameJudge.StemOf(chosen[i].Name) && !_leaders.TryAdd(stem, i))
                    _leaders[stem] = i == main || _leaders[stem] == main ? main : Ambiguous;
            }
        }
    }

    /// <summary>Returns the file that this file is named after and the rest of the name; null if the name is independent.</summary>
    public (int Index, string Ending)? LeaderOf(int index)
    {
        var file = _files[index];
        var chosen = _chosen[index];
        if (_leaders.Count == 0 || IsLeader(index) || file.IsRefused || file.IsDiscPart || file.IsVolume)
            return null;

        // The release name was chosen, so any posted name may link this file to its leader. The extension comes from the chosen name.
        return chosen.Source == NameSource.Release
            ? file.All.Select(name => Find(NameJudge.StemOf(name) + "." + NameJudge.ExtensionOf(chosen.Name))).FirstOrDefault(found => found is not null)
            : Find(chosen.Name);
    }

    private bool IsLeader(int index) =>
        _files[index] is { IsRefused: false, IsFixed: false } file && (file.IsMedia || index == _main);

    private (int Index, string Ending)? Find(string name)
    {
        for (var dot = name.LastIndexOf('.'); dot > 0; dot = name.LastIndexOf('.', dot - 1))
        {
            if (_leaders.TryGetValue(name[..dot], out var leader) && leader != Ambiguous)
                return (leader, name[dot..]);
        }

        return null;
    }
}
