using System.Reflection;
using Sluice.Testing;
using Sluice.Usenet.Tests.Nntp;
using Sluice.Usenet.Tests.Tester;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests;

/// <summary>Selection of the tests for <c>tools/test.sh --quick</c>.</summary>
public sealed class QuickClassesTests
{
    private static readonly IReadOnlyList<string> Quick = QuickClasses.In(typeof(QuickClassesTests).Assembly);

    [Fact]
    public void Parser_is_quick_and_pool_is_not()
    {
        Assert.Contains(typeof(YencKernelTests).FullName, Quick);
        Assert.DoesNotContain(typeof(PoolModelTests).FullName, Quick);
    }

    [Fact]
    public void Class_running_the_tester_is_not_quick()
    {
        Assert.DoesNotContain(typeof(TesterDamageTests).FullName, Quick);
        Assert.DoesNotContain(typeof(TesterRunTests).FullName, Quick);
    }

    /// <summary>Writes the names for <c>tools/test.sh</c>.</summary>
    [Fact(Explicit = true)]
    public void Quick_classes_are_listed() => QuickClasses.Write(Assembly.GetExecutingAssembly());
}
