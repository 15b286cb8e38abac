using System.Globalization;
using Sluice.Server.Diagnostics;
using Xunit;

namespace Sluice.Server.Tests.Diagnostics;

/// <summary>Only pages that can be read again from their file are released.</summary>
public sealed class StartPagesTests
{
    private const string Program = "/opt/my sluice/sluice";

    [Fact]
    public void Clean_file_mappings_are_released()
    {
        string[] lines =
        [
            .. Mapping("1000-3000 r--p 00000000 08:01 12                         " + Program, 0, 0),
            .. Mapping("3000-8000 r-xp 00002000 08:01 12                         " + Program, 0, 0),
            .. Mapping("8000-9000 r--p 00000000 08:01 14                         /usr/lib/libc.so.6", 0, 0),
        ];

        Assert.Equal([(0x1000, (nuint)0x2000), (0x3000, (nuint)0x5000), (0x8000, (nuint)0x1000)], StartPages.Find(lines));
    }

    [Theory]
    [InlineData("1000-3000 rw-p 00000000 08:01 12   " + Program, 0, 0)]
    [InlineData("1000-3000 ---p 00000000 08:01 12   " + Program, 0, 0)]
    [InlineData("1000-3000 r--p 00000000 08:01 12   " + Program, 4, 0)]
    [InlineData("1000-3000 r--p 00000000 08:01 12   " + Program, 0, 4)]
    [InlineData("1000-3000 r--s 00000000 08:01 12   " + Program, 0, 0)]
    [InlineData("1000-3000 r--p 00000000 08:01 12   " + Program + " (deleted)", 0, 0)]
    [InlineData("1000-3000 r--p 00000000 00:00 0 ", 0, 0)]
    [InlineData("1000-3000 r--p 00000000 00:00 0    [vvar]", 0, 0)]
    public void Writable_dirty_shared_or_anonymous_mapping_is_kept(string header, int anonymous, int swapped) =>
        Assert.Empty(StartPages.Find(Mapping(header, anonymous, swapped)));

    [Fact]
    public void Smaps_of_this_process_can_be_parsed()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "needs /proc");
        var code = File.ReadLines("/proc/self/maps").First(line => line.Contains(" r-xp ", StringComparison.Ordinal) && line.Contains("/libc.so", StringComparison.Ordinal));
        var begin = nint.Parse(code[..code.IndexOf('-', StringComparison.Ordinal)], NumberStyles.HexNumber, CultureInfo.InvariantCulture);

        Assert.Contains(StartPages.Find(File.ReadAllLines("/proc/self/smaps")), range => range.Begin == begin && range.Length > 0x10000);
    }

    private static string[] Mapping(string header, int anonymous, int swapped) =>
        [header, "Size:                  8 kB", "Rss:                   8 kB", $"Anonymous:             {anonymous} kB", $"Swap:                  {swapped} kB", "VmFlags: rd mr mw me sd"];
}
