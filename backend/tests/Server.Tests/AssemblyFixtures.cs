using Sluice.Server.Tests.AdminApi;
using Sluice.Server.Tests.ArchiveImport;
using Sluice.Server.Tests.ArrReplica;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.FamilyImport;
using Sluice.Server.Tests.Library;
using Sluice.Server.Tests.Queue;
using Sluice.Server.Tests.SabApi;
using Sluice.Server.Tests.Startup;
using Sluice.Server.Tests.WebDav.Tree;
using Sluice.Testing;
using Xunit;

[assembly: AssemblyFixture(typeof(UnobservedExceptions))]
[assembly: TestCollectionOrderer(typeof(LongestFirst))]
[assembly: Takes(typeof(ReasonTimeTests), 110)]
[assembly: Takes(typeof(StorageFaultTests), 97)]
[assembly: Takes(typeof(NewsServerTests), 65)]
[assembly: Takes(typeof(FamilyImportTests), 83)]
[assembly: Takes(typeof(PeerLibraryTests), 63)]
[assembly: Takes(typeof(ProviderFaultTests), 61)]
[assembly: Takes(typeof(RandomRunTests), 57)]
[assembly: Takes(typeof(UnpackedStreamTests), 54)]
[assembly: Takes(typeof(ListedNameTests), 52)]
[assembly: Takes(typeof(RandomRangeTests), 50)]
[assembly: Takes(typeof(JobListTests), 42)]
[assembly: Takes(typeof(RestartTests), 42)]
[assembly: Takes(typeof(RealPostTests), 39)]
[assembly: Takes(typeof(GuesserTests), 38)]
[assembly: Takes(typeof(EveryFaultTests), 33)]
[assembly: Takes(typeof(UuencodedPostTests), 32)]
[assembly: Takes(typeof(LazyLibraryTests), 30)]
[assembly: Takes(typeof(IdleLimitTests), 31)]
[assembly: Takes(typeof(ProviderTestTests), 26)]
[assembly: Takes(typeof(AddUrlTests), 26)]
[assembly: Takes(typeof(CancelledReadTests), 25)]
[assembly: Takes(typeof(LibraryListTests), 23)]
[assembly: Takes(typeof(ProcessUserTests), 23)]
[assembly: Takes(typeof(WatchedFileFaultTests), 20)]
[assembly: Takes(typeof(AbortTests), 20)]
[assembly: Takes(typeof(ImportTests), 20)]
[assembly: Takes(typeof(ImportRunTests), 20)]
[assembly: Takes(typeof(LoginGuesserTests), 20)]
[assembly: Takes(typeof(ProvedOnceTests), 19)]
[assembly: Takes(typeof(SubtitleResourceTests), 19)]
[assembly: Takes(typeof(FilmSubtitlesTests), 19)]
[assembly: Takes(typeof(SessionResourceTests), 18)]
[assembly: Takes(typeof(ProcessTests), 18)]
[assembly: Takes(typeof(SafeModeTests), 17)]
[assembly: Takes(typeof(MeasureTests), 17)]
[assembly: Takes(typeof(SlowConnectionTests), 16)]
[assembly: Takes(typeof(TraitTests), 16)]
[assembly: Takes(typeof(SecondProviderTests), 15)]
[assembly: Takes(typeof(ReasonTests), 14)]
[assembly: Takes(typeof(QuotaRestartTests), 10)]
